# docker build -t feedbackctl .
# docker run -p 8000:8000 -v feedback:/data feedbackctl
# docs/operating.md says more under "In a container".

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Neither better-sqlite3 13 nor esbuild needs its install script, so no compiler is needed.
RUN npm ci --ignore-scripts
COPY esbuild.config.js tsconfig.json LICENSE ./
COPY bin bin
COPY src src
RUN npm run build
# Source maps are for development.
RUN find dist -name '*.map' -delete

# What the program loads when it runs: addons for this platform, and the Node that the code cache in dist was made by.
FROM node:24-bookworm-slim AS packages
WORKDIR /packages
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
RUN mkdir kept kept/@node-rs \
  && cp -r node_modules/@node-rs/argon2 node_modules/@node-rs/argon2-linux-*-gnu node_modules/@node-rs/bcrypt node_modules/@node-rs/bcrypt-linux-*-gnu kept/@node-rs/ \
  && mkdir kept/better-sqlite3 kept/better-sqlite3/prebuilds \
  && cp -r node_modules/better-sqlite3/package.json node_modules/better-sqlite3/LICENSE node_modules/better-sqlite3/lib kept/better-sqlite3/ \
  && cp node_modules/better-sqlite3/prebuilds/linux-$(node -p process.arch).node kept/better-sqlite3/prebuilds/ \
  && cp -r node_modules/sharp node_modules/@img node_modules/detect-libc node_modules/semver kept/ \
  && mkdir data

# The base of the Node images, without npm and yarn, which the program does not use.
FROM debian:bookworm-slim
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=packages /packages/kept /opt/feedbackctl/node_modules
COPY --from=build /build/dist /opt/feedbackctl/dist
COPY --from=build /build/bin /opt/feedbackctl/bin
COPY --from=build /build/package.json /build/LICENSE /opt/feedbackctl/
RUN ln -s /opt/feedbackctl/bin/feedbackctl.js /usr/local/bin/feedbackctl
COPY --from=packages --chown=1000:1000 /packages/data /data

# Only /data is written to. The configuration file is /data/feedbackctl/config.toml.
# An engine kills what has not stopped 10 seconds after SIGTERM: 4 for open requests, and 5 for the rest.
ENV container=docker \
    HOME=/data \
    XDG_CONFIG_HOME=/data \
    FEEDBACKCTL_DATA_DIR=/data \
    FEEDBACKCTL_LISTEN=0.0.0.0:8000 \
    FEEDBACKCTL_SHUTDOWN_TIMEOUT=4s
WORKDIR /data
VOLUME /data
EXPOSE 8000
USER 1000:1000
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["feedbackctl", "healthcheck"]
ENTRYPOINT ["feedbackctl"]
CMD ["serve"]

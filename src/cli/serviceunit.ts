/** What a unit is made of. */
export interface Service {
  name: string
  /** Of the user who runs the command, and not of the machine. */
  isUsers: boolean
  /** The words that start the program. */
  program: readonly string[]
  config: string
}

/** Of any service. What is not here would break the program: V8 writes and runs code, and the network is its work. */
const HARDENED = `NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictNamespaces=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
SystemCallArchitectures=native
UMask=0077`

/** Needs the rights of root, or a user of its own. */
const OF_MACHINE = `CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProcSubset=pid
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
RemoveIPC=yes
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM`

/**
 * The systemd unit of a service. NotifyAccess=all, because systemd-notify is a child of the server. The start has no time
 * limit, because it may migrate the database.
 */
export const unitOf = ({ name, isUsers, program, config }: Service): string => `[Unit]
Description=feedbackctl${name === 'feedbackctl' ? '' : ` (${name})`}
Requires=${name}.socket
After=network-online.target ${name}.socket
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=all
TimeoutStartSec=infinity
WatchdogSec=120
ExecStart=${program.map(quoted).join(' ')} serve --config ${isUsers ? quoted(config) : `\${CREDENTIALS_DIRECTORY}/config.toml`}
${isUsers ? RELOADS : ownUser(name, config)}OOMPolicy=continue
Restart=always
RestartSec=2
RestartPreventExitStatus=78
TimeoutStopSec=40
${HARDENED}
${isUsers ? '' : `${OF_MACHINE}\n`}
[Install]
WantedBy=${isUsers ? 'default.target' : 'multi-user.target'}
Also=${name}.socket
`

/**
 * The unit of the socket, which stays open while the server restarts. A connection starts a stopped server. The trigger
 * limit ends the attempts if the server cannot start.
 */
export const socketUnitOf = ({
  name,
  addresses,
  mode,
}: Pick<Service, 'name'> & { addresses: readonly string[]; mode?: string | undefined }): string => `[Unit]
Description=Socket of feedbackctl${name === 'feedbackctl' ? '' : ` (${name})`}

[Socket]
${addresses.map((address) => `ListenStream=${address.replaceAll('%', '%%')}\n`).join('')}${mode === undefined ? '' : `SocketMode=0${mode.slice(-3)}\n`}FreeBind=yes
TriggerLimitIntervalSec=30
TriggerLimitBurst=10

[Install]
WantedBy=sockets.target
`

/** Only for services of a user: systemd gives others a copy of the configuration, which does not change. */
const RELOADS = 'ExecReload=/bin/kill -HUP $MAINPID\n'

/** The configuration has secrets, so only root can read it. systemd hands the server a copy. */
const ownUser = (name: string, config: string): string => `DynamicUser=yes
StateDirectory=${name}
StateDirectoryMode=0700
LoadCredential=config.toml:${config}
`

/** As systemd reads a word: % and $ begin what it replaces. */
const quoted = (word: string): string => {
  const plain = word.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w@%+=:,./-]+$/.test(plain) ? plain : `"${plain.replaceAll(/["\\]/g, (each) => `\\${each}`)}"`
}

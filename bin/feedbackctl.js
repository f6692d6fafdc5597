#!/usr/bin/env node
require('../dist/cli/launcher.js')

// feedbackctl with the commands of notes.ts, for processes and terminals.
import { processTerminal } from '../../src/cli/lib/terminal/terminal.js'
import { run } from '../../src/cli/run.js'
import { branches, type Branch } from '../../src/cli/tree.js'
import { notesBranch } from './notes.js'

const tree = branches as Branch[] // readonly in the program
tree.push(notesBranch)
void run(processTerminal())

// Loaded before a command, as machine.run cannot do this from outside in time: sends the process a signal at a moment of its
// work, which starts when it handles signals. FEEDBACKCTL_TEST_INTERRUPT is JSON:
//   signal   which one; absent to count only
//   isTwice  whether it comes again as soon as nothing listens for it
//   after    how many turns of the event loop it has worked by then
//   folder, name (a regular expression): it has made such a file by then
//   turns    a file that gets the number of turns that the work took
import { existsSync, readdirSync, writeFileSync } from 'node:fs'

const { signal, isTwice = false, after = 0, folder, name, turns } = JSON.parse(process.env.FEEDBACKCTL_TEST_INTERRUPT)
const isThere = () =>
  folder === undefined || (existsSync(folder) && readdirSync(folder).some((each) => new RegExp(name).test(each)))
let count = 0
let isSent = signal === undefined

function turn() {
  if (process.listenerCount('SIGINT') > 0) {
    if (!isSent && count >= after && isThere()) {
      isSent = true
      process.kill(process.pid, signal)
    }
    count++
  }
  setImmediate(turn).unref()
}

turn()
process.on('removeListener', (event) => {
  if (isTwice && isSent && event === signal && process.listenerCount(signal) === 0) process.kill(process.pid, signal)
})
if (turns) process.on('exit', () => writeFileSync(turns, String(count)))

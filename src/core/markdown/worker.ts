// What a thread of its own runs. See index.ts.
import { parentPort } from 'node:worker_threads'
import { done, type Work } from './work.js'

parentPort?.on('message', (work: Work) => parentPort?.postMessage(done(work)))

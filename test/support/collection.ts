/**
 * Flags of Node for long-lived processes of the tests. They collect garbage on one thread, as the helper threads of four
 * workers would wait for each other on two cores, and less often: each server that a test builds dies young.
 */
export const COLLECTION = ['--single-threaded-gc', '--min-semi-space-size=64', '--max-semi-space-size=64']

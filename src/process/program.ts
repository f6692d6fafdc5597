type Keep = () => Promise<void>

/**
 * Reads the code that a server may load later, so that an upgrade may replace the folder of the program. Only the
 * launcher of the built program can: with another loader this does nothing.
 */
export async function keepProgram(): Promise<void> {
  await (Reflect.get(globalThis, Symbol.for('feedbackctl.keep')) as Keep | undefined)?.()
}

/** The output of a command that only reports success. */
export const NO_OUTPUT = { columns: [], id: String, rows: () => [] } as const

/** The output of commands that list permissions. */
export const permissionList = {
  columns: [{ head: 'PERMISSION', text: (permission: string) => permission, drop: 0 }],
  id: (permission: string) => permission,
  rows: (answer: { permissions: readonly string[] }) => answer.permissions,
  list: true as const,
}

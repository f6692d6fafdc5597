/** What a visitor wanted to do before signing in; the forms to sign in and up carry it. */
export const PENDING = { path: 'pending-path', fields: 'pending-fields' } as const

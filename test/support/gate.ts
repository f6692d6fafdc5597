/** Something that others wait for, until the test lets it happen. */
export interface Gate {
  opened: Promise<void>
  open(this: void): void
}

/** Forces an order: what awaits `opened` goes on after `open`, and not before. */
export function makeGate(): Gate {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

import { PERMISSIONS, UNUSED_PERMISSIONS, type Permission } from '../../core/permissions.js'
import type { View } from '../kit/page.js'
import { NowTicked } from '../parts/stored.js'

type Noun = Permission extends infer P ? (P extends `${infer N}:${string}` ? N : never) : never

const nounOf = (permission: Permission) => permission.split(':')[0] as Noun

/** The permissions of each noun, in the order of the contract. */
const GROUPS = [...new Set(PERMISSIONS.map(nounOf))].map((noun) => ({
  noun,
  permissions: PERMISSIONS.filter((each) => nounOf(each) === noun),
}))

/** A box for each permission, in words. Nobody can give what they lack, so that is off, with the reason. */
export const PermissionFields = ({
  view,
  held,
  stored = held,
  isFixed = false,
}: {
  view: View
  held: ReadonlySet<string>
  /** What the role has, where `held` is what was sent. */
  stored?: ReadonlySet<string>
  isFixed?: boolean
}) => (
  <>
    <h2>{view.t('role.permissions')}</h2>
    {!isFixed && PERMISSIONS.some((each) => !view.can(each)) ? <p class="soft">{view.t('role.lackingNext')}</p> : null}
    <div class="permissions">
      {GROUPS.map(({ noun, permissions }) => (
        <fieldset>
          <legend>{view.t(`permission.of.${noun}`)}</legend>
          {permissions.map((permission) => (
            <Box
              view={view}
              permission={permission}
              isHeld={held.has(permission)}
              isStored={stored.has(permission)}
              isFixed={isFixed}
            />
          ))}
        </fieldset>
      ))}
    </div>
  </>
)

function Box({ view, permission, isHeld, isStored, isFixed }: BoxProps) {
  const { t } = view
  const isLacking = !isFixed && !view.can(permission)
  return (
    <label class="check">
      <input type="checkbox" name="permissions" value={permission} checked={isHeld} disabled={isFixed || isLacking} />
      <span>
        {t(`permission.${permission}`)}
        {isLacking ? <span class="soft"> {t('role.lacking')}</span> : null}
        {UNUSED_PERMISSIONS.includes(permission) ? <span class="soft"> {t('role.unused')}</span> : null}
        <NowTicked view={view} isTicked={isHeld} isStored={isStored} />
      </span>
    </label>
  )
}

interface BoxProps {
  view: View
  permission: Permission
  isHeld: boolean
  isStored: boolean
  isFixed: boolean
}

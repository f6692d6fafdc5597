import type { Key } from '../../core/catalogue.js'
import type { View } from '../kit/page.js'

/** The keys of a page, each with what it does. Only a script shows them, as only a script hears them. */
export const KeyHelp = ({ view, keys }: { view: View; keys: readonly (readonly [key: string, does: Key])[] }) => (
  <>
    <button type="button" class="button plain shortcuts">
      <span>
        {view.t('shortcuts.title')} <kbd>?</kbd>
      </span>
      <span hidden>{view.t('shortcuts.areOff')}</span>
    </button>
    <dialog class="shortcuts" aria-labelledby="shortcuts-title">
      <h2 id="shortcuts-title">{view.t('shortcuts.title')}</h2>
      <dl>
        {[...keys, ['?', 'shortcuts.help'] as const].map(([key, does]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{view.t(does)}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input type="checkbox" />
        <span>{view.t('shortcuts.off')}</span>
      </label>
      <form method="dialog">
        {/* Not the box above, which a key would tick unseen */}
        <button type="submit" class="button plain" autofocus>
          {view.t('shortcuts.close')}
        </button>
      </form>
    </dialog>
  </>
)

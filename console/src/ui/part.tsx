// Parts of the console that the login does not need. Each is a file of its own, which loads on use or soon after the login.
import { signal } from '@preact/signals';
import type { ComponentType, FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../texts/texts.js';
import { Problem } from './parts.js';
import { forgetReload, isReplaced, reloadOnce } from '../session/replaced.js';

const loads: (() => Promise<void>)[] = [];

type Absence = 'missing' | 'replaced';

/**
 * Returns a component that loads with its first use. If its file cannot be loaded, it says so and offers to try again. After an upgrade of
 * the service, the file has another name, so the page must be loaded again.
 * @param options whether nothing else is on the screen, so that the page may load itself again, once; and whether it loads with its
 * first use only
 */
export function part<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { isWholePage = false, isOnUse = false } = {},
): FunctionComponent<Props> {
  const view = signal<ComponentType<Props> | undefined>(undefined);
  const absence = signal<Absence | undefined>(undefined);
  let isShown = false;
  const start = async () => {
    if (view.value) return;
    absence.value = undefined;
    try {
      view.value = await load();
      if (isWholePage) forgetReload();
    } catch {
      const found = (await isReplaced()) ? 'replaced' : 'missing';
      if (found === 'replaced' && isWholePage && isShown && reloadOnce()) return;
      absence.value = found;
    }
  };
  if (!isOnUse) loads.push(start);
  return (props) => {
    useEffect(() => {
      isShown = true;
      void start();
      return () => {
        isShown = false;
      };
    }, []);
    const View = view.value;
    if (View) return <View {...props} />;
    return absence.value ? <Missing absence={absence.value} onRetry={() => void start()} /> : null;
  };
}

/** Loads all parts, so that they are there without a connection, and after the service was upgraded. */
export async function loadParts(): Promise<void> {
  for (const load of loads) await load();
}

const Missing = ({ absence, onRetry }: { absence: Absence; onRetry: () => void }) => (
  <div class="stack">
    <Problem text={t(absence === 'replaced' ? 'part.replaced' : 'part.missing')} />
    <div class="actions">
      <button type="button" onClick={absence === 'replaced' ? () => location.reload() : onRetry}>
        {t(absence === 'replaced' ? 'part.reload' : 'common.retry')}
      </button>
    </div>
  </div>
);

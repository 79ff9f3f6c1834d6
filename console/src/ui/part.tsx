// Parts of the console that the login does not need. Each is a file of its own, which loads on use or soon after the login.
import { signal } from '@preact/signals';
import type { ComponentType, FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../texts/texts.js';
import { Problem } from './parts.js';

const loads: (() => Promise<void>)[] = [];

/** Returns a component that loads with its first use. If its file cannot be loaded, it says so and offers to try again. */
export function part<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): FunctionComponent<Props> {
  const view = signal<ComponentType<Props> | undefined>(undefined);
  const isMissing = signal(false);
  const start = async () => {
    if (view.value) return;
    isMissing.value = false;
    try {
      view.value = await load();
    } catch {
      isMissing.value = true;
    }
  };
  loads.push(start);
  return (props) => {
    useEffect(() => void start(), []);
    const View = view.value;
    if (View) return <View {...props} />;
    return isMissing.value ? <Missing onRetry={() => void start()} /> : null;
  };
}

/** Loads all parts, so that they are there without a connection, and after the service was upgraded. */
export async function loadParts(): Promise<void> {
  for (const load of loads) await load();
}

const Missing = ({ onRetry }: { onRetry: () => void }) => (
  <div class="stack">
    <Problem text={t('part.missing')} />
    <div class="actions">
      <button type="button" onClick={onRetry}>
        {t('common.retry')}
      </button>
    </div>
  </div>
);

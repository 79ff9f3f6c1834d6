import { signal } from '@preact/signals';
import { session } from '../session/session.js';
import { t } from '../texts/texts.js';

export type Unloading = { isOn: boolean; begin: () => void; end: () => void };

/** In the storage of the tab, so that a page change or a reload does not end the mode without a word. */
const NAME = 'crossdock-unloading';
const unloadingOf = signal(sessionStorage.getItem(NAME) ?? '');

/** A mode in which every scan takes its parcel off, until the person ends it. */
export function useUnloading(manifestId: string): Unloading {
  const own = `${session.value?.user.id} ${manifestId}`;
  const set = (value: string) => {
    unloadingOf.value = value;
    sessionStorage.setItem(NAME, value);
  };
  return { isOn: unloadingOf.value === own, begin: () => set(own), end: () => set('') };
}

/** Above the idle text of the banner, so that nobody overlooks the mode. */
export const UnloadingBanner = ({ onEnd }: { onEnd: () => void }) => (
  <div class="unloading" role="status" data-testid="unloading">
    <strong>{t('load.offTitle')}</strong>
    <span>{t('load.offHint')}</span>
    <button type="button" onClick={onEnd}>
      {t('load.offEnd')}
    </button>
  </div>
);

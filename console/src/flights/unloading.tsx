import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../texts/texts.js';

/** Without a scan, the mode ends by itself. */
const FORGOTTEN_MS = 30_000;

export type Unloading = { isOn: boolean; begin: () => void; end: () => void };

/** A mode in which the next scan takes a parcel off. It ends after one parcel, or by itself. */
export function useUnloading(): Unloading {
  const [isOn, setIsOn] = useState(false);
  const timer = useRef(0);
  const end = () => {
    clearTimeout(timer.current);
    setIsOn(false);
  };
  const begin = () => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(end, FORGOTTEN_MS);
    setIsOn(true);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return { isOn, begin, end };
}

/** Instead of the idle text of the banner, so that nobody overlooks the mode. */
export const UnloadingBanner = ({ onEnd }: { onEnd: () => void }) => (
  <div class="unloading" role="status" data-testid="unloading">
    <strong>{t('load.offTitle')}</strong>
    <span>{t('load.offHint')}</span>
    <button type="button" onClick={onEnd}>
      {t('load.offEnd')}
    </button>
  </div>
);

import type { Reading } from '../scanner/scanner.js';
import { forgetLockedScan, lockedScans } from '../session/locked-scans.js';
import { t, time } from '../texts/texts.js';

/** What was scanned while the station was locked. Nobody has received it: the person on the screen takes it or dismisses it. */
export function LockedNotice({ onTake }: { onTake: (reading: Reading) => void }) {
  if (lockedScans.value.length === 0) return null;
  return (
    <div class="notice labels" data-testid="locked-scans">
      <p>{t('lock.scans')}</p>
      <ul>
        {lockedScans.value.map(({ text, atMs }) => (
          <li key={text}>
            <span class="mono strong">{text}</span> <span>{time(new Date(atMs))}</span>
            <span class="actions">
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  forgetLockedScan(text);
                  onTake({ kind: 'scan', scan: { text, isAgain: false } });
                }}
              >
                {t('lock.take')}
                <span class="unseen"> {text}</span>
              </button>
              <button type="button" class="quiet" onClick={() => forgetLockedScan(text)}>
                {t('lock.dismiss')}
                <span class="unseen"> {text}</span>
              </button>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

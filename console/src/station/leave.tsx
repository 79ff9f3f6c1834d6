import { signal } from '@preact/signals';
import { handOverScan } from '../session/locked-scans.js';
import { isLocked, logOut } from '../session/session.js';
import { readMeasures } from '../staff/parcel.js';
import { t } from '../texts/texts.js';
import { Dialog } from '../ui/parts.js';
import { save } from './receiving.js';
import { clearParcel, hasParcelInWork, work } from './work.js';

const isAsking = signal(false);

/**
 * Logs out. A parcel in work is received or dropped by the person, never by the way. At a locked station somebody else is there, who can
 * receive nothing in the name of that person: the numbers are shown to whoever logs in next.
 */
export function leave(): void {
  if (!hasParcelInWork.value) logOut();
  else if (isLocked.value) {
    const { parcel, second } = work.value;
    for (const scan of [parcel?.scan, second]) if (scan) handOverScan(scan);
    clearParcel();
    // The next user is not asked.
    isAsking.value = false;
    logOut();
  } else isAsking.value = true;
}

export function LeaveDialog() {
  if (!isAsking.value) return null;
  const { parcel, measures, second } = work.value;
  const close = () => (isAsking.value = false);
  const goAway = () => {
    close();
    logOut();
  };
  return (
    <Dialog title={t('leave.title')} onClose={close}>
      <p>{t('leave.text', { scan: parcel?.scan ?? '' })}</p>
      <div class="actions">
        {second === undefined && 'measures' in readMeasures(measures) && (
          <button
            type="button"
            class="primary"
            onClick={() => void save().then((isSaved) => (isSaved ? goAway() : close()))}
          >
            {t('leave.receive', { weight: measures.weight })}
          </button>
        )}
        <button type="button" class="dialog-first" onClick={close}>
          {t('leave.stay')}
        </button>
        <button
          type="button"
          class="quiet danger"
          onClick={() => {
            clearParcel();
            goAway();
          }}
        >
          {t('leave.drop')}
        </button>
      </div>
    </Dialog>
  );
}

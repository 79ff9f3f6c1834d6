import { signal } from '@preact/signals';
import { logOut } from '../session/session.js';
import { readMeasures } from '../staff/parcel.js';
import { t } from '../texts/texts.js';
import { Dialog } from '../ui/parts.js';
import { save } from './receiving.js';
import { clearParcel, hasParcelInWork, work } from './work.js';

const isAsking = signal(false);

/** Logs out. A parcel in work is received or dropped by the person, never by the way. */
export function leave(): void {
  if (hasParcelInWork.value) isAsking.value = true;
  else logOut();
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

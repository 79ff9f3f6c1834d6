import { NumberField } from '../staff/number-field.js';
import { t } from '../texts/texts.js';
import { Code } from '../ui/code.js';
import { single } from '../device/single.js';
import { keepFirst, unlist } from './second-scan.js';
import { work } from '../station/work.js';

type Props = {
  first: string;
  second: string;
  onNumber: (text: string) => void;
  onSecond: () => void;
  onJoined: () => void;
};

/** Instead of the field for the weight: asks which of two numbers is on the scale. */
export const WhichParcel = ({ first, second, onNumber, onSecond, onJoined }: Props) => (
  <div class="question" role="group" aria-label={t('which.title')} data-testid="which">
    <p class="strong">{t('which.title')}</p>
    <NumberField label={t('which.scan')} hint={t('which.hint')} onNumber={onNumber} />
    <div class="actions">
      <button type="button" onClick={single(keepFirst)}>
        {t('which.onScale', { scan: first })}
      </button>
      {second !== '' && (
        <>
          <button type="button" onClick={single(onSecond)}>
            {t('which.onScale', { scan: second })}
          </button>
          <button type="button" onClick={single(onJoined)}>
            {t('which.one')}
          </button>
        </>
      )}
    </div>
  </div>
);

/** Numbers that were scanned while another parcel waited for its weight. */
export function NotReceived() {
  const { unreceived } = work.value;
  if (unreceived.length === 0) return null;
  return (
    <section class="notice" aria-label={t('which.unreceived')} data-testid="unreceived">
      <p class="strong">{t('which.unreceived')}</p>
      <ul>
        {unreceived.map((scan) => (
          <li key={scan}>
            <Code text={scan} />{' '}
            <button type="button" class="quiet" onClick={single(() => unlist(scan))}>
              {t('queue.dismiss')}
              <span class="unseen"> {scan}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

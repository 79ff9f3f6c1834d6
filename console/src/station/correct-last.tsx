import { useState } from 'preact/hooks';
import { settings } from '../device/settings.js';
import { answered } from '../queue/answers.js';
import { correctScan } from '../queue/correct.js';
import type { QueuedScan } from '../queue/scans.js';
import { corrections, queue, recent } from '../queue/store.js';
import { session } from '../session/session.js';
import {
  doubtOf,
  MEASURE_NAMES,
  readMeasures,
  type Doubt,
  type MeasureName,
  type Measures,
} from '../staff/parcel.js';
import { pounds, t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { show } from '../ui/outcome.js';
import { Dialog, Field, Problem } from '../ui/parts.js';
import { doubtText } from './receiving.js';

type ReceiveRequest = Extract<QueuedScan['request'], { kind: 'receive' }>;
type Received = { scan: QueuedScan; request: ReceiveRequest };

/** Corrects the measures of the parcel that was received last, also while its scan still waits. */
export function CorrectDialog({ onClose }: { onClose: () => void }) {
  const [last] = useState(lastReceived);
  return (
    <Dialog title={t('correct.title')} onClose={onClose}>
      {last ? <CorrectForm last={last} onClose={onClose} /> : <p>{t('correct.none')}</p>}
    </Dialog>
  );
}

function CorrectForm({ last: { scan, request }, onClose }: { last: Received; onClose: () => void }) {
  const [measures, setMeasures] = useState<Measures>(() => measuresOf(request));
  const [wrong, setWrong] = useState<MeasureName[]>([]);
  const [doubt, setDoubt] = useState<Doubt>();
  const correct = useAction(async (isConfirmed: boolean) => {
    const read = readMeasures(measures);
    if ('wrong' in read) {
      setWrong(read.wrong);
      return;
    }
    const found = doubtOf(measures, read.measures, settings.value.weightQuestionLb);
    if (found && !isConfirmed) {
      setDoubt(found);
      return;
    }
    await correctScan({ scan_id: scan.scan_id, owner: scan.owner, scan: request.scan }, read.measures);
    show('good', t('word.corrected'), `${request.scan} · ${pounds(read.measures.weight)}`);
    onClose();
  });
  const read = readMeasures(measures);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        correct.run(false);
      }}
    >
      <p class="mono strong">{request.scan}</p>
      <p class="muted">{t('correct.hint', { weight: pounds(request.weight) })}</p>
      <div class="measures">
        {MEASURE_NAMES.map((name) => (
          <Field
            key={name}
            keys="measure"
            label={t(`receive.${name}`)}
            value={measures[name]}
            inputMode="decimal"
            error={wrong.includes(name) ? t(`receive.${name}Wrong`) : undefined}
            onValue={(value) => {
              setMeasures({ ...measures, [name]: value });
              setWrong([]);
              setDoubt(undefined);
            }}
          />
        ))}
      </div>
      <Problem text={correct.error} />
      {doubt && 'measures' in read && (
        <p class="question" role="alert">
          {doubtText(doubt, read.measures.weight)}
        </p>
      )}
      <div class="actions">
        {doubt && 'measures' in read ? (
          <button type="button" onClick={() => correct.run(true)}>
            {t('doubt.yes', { weight: pounds(read.measures.weight) })}
          </button>
        ) : (
          <button type="submit" class="primary" disabled={correct.isBusy}>
            {t('correct.save')}
          </button>
        )}
      </div>
    </form>
  );
}

/** Returns the scan of the parcel that this user received last on this device. */
function lastReceived(): Received | undefined {
  const owner = session.value?.user.id;
  // The disk may not have the latest answers yet. An earlier entry of the same scan may have corrected measures.
  const done = [...recent.value, ...answered.value]
    .filter(({ result }) => result.outcome === 'done')
    .map(({ scan }) => scan);
  const waiting = queue.value.filter(({ state }) => state === 'waiting');
  const received = [...waiting, ...done].flatMap((scan): Received[] =>
    scan.owner === owner && scan.request.kind === 'receive' ? [{ scan, request: scan.request }] : [],
  );
  const [last] = received.sort((a, b) => (a.request.scanned_at < b.request.scanned_at ? 1 : -1));
  const pending = corrections.value.find(({ scan_id }) => scan_id === last?.scan.scan_id);
  return last && pending ? { ...last, request: { ...last.request, ...pending.measures } } : last;
}

const measuresOf = ({ weight, length, width, height }: ReceiveRequest): Measures => ({
  weight: String(weight),
  length: String(length ?? ''),
  width: String(width ?? ''),
  height: String(height ?? ''),
});

import { useEffect, useState } from 'preact/hooks';
import { settings } from '../../device/settings.js';
import { play } from '../../device/sound.js';
import { expectAnswer } from '../../queue/answers.js';
import { correctScan } from '../../queue/correct.js';
import { latestMeasures, type Received } from '../../queue/received.js';
import type { Reading } from '../../scanner/scanner.js';
import { isWeightText, readWeight } from '../../scanner/scale.js';
import {
  doubtOf,
  MEASURE_NAMES,
  readMeasures,
  type Doubt,
  type MeasureName,
  type Measures,
  type ReadMeasures,
} from '../../staff/parcel.js';
import { pounds, t } from '../../texts/texts.js';
import { focusedMeasure, showUnclear, useReadings } from '../../ui/keys.js';
import { useAction } from '../../ui/load.js';
import { showEarlier } from '../../ui/outcome.js';
import { Dialog, Problem } from '../../ui/parts.js';
import { correcting, endCorrection, receivedBy, storedWeight } from './correcting.js';
import { VoidLast } from './void-last.js';
import { MeasureFields } from '../measure-fields.js';
import { doubtText } from '../receiving.js';
import { report } from '../report.js';

/** Corrects the measures of a received parcel, also while its scan still waits. */
export function CorrectDialog() {
  const scanId = correcting.value;
  const [parcel] = useState(() => (scanId ? receivedBy(scanId) : undefined));
  return (
    <Dialog title={t('correct.title')} onClose={endCorrection}>
      {parcel ? <CorrectForm parcel={parcel} /> : <p>{t('correct.none')}</p>}
    </Dialog>
  );
}

type Form = { measures: Measures; wrong: MeasureName[]; doubt?: Doubt };

function CorrectForm({ parcel }: { parcel: Received }) {
  const { scan, request } = parcel;
  const [known, setKnown] = useState<ReadMeasures>(() => latestMeasures(parcel));
  const [stored, setStored] = useState(request.weight);
  const [form, setForm] = useState<Form>(() => ({ measures: textsOf(known), wrong: [] }));
  const { measures, wrong, doubt } = form;
  const [isVoiding, setIsVoiding] = useState(false);
  const isChanged = MEASURE_NAMES.some((name) => measures[name] !== textsOf(known)[name]);
  const correct = useAction(async (typed: Measures, isConfirmed: boolean) => {
    const read = readMeasures(typed);
    if ('wrong' in read) {
      setForm({ measures: typed, wrong: read.wrong });
      return;
    }
    const changes = changesOf(known, read.measures);
    const found = changes && doubtOf(typed, read.measures, settings.value.weightQuestionLb);
    if (found && !isConfirmed) {
      setForm({ measures: typed, wrong: [], doubt: found });
      return;
    }
    if (changes) await send(parcel, changes);
    else report('wait', t('word.notChanged'), `${request.scan} · ${pounds(known.weight)}`, request.scan);
    endCorrection();
  });

  useEffect(() => {
    void storedWeight(parcel).then((weight) => {
      if (weight === undefined) return;
      setStored(weight);
      if (parcel.correction) return;
      setKnown((last) => ({ ...last, weight }));
      // What the person has typed meanwhile stays.
      setForm((last) =>
        last.measures.weight === String(known.weight)
          ? { ...last, measures: { ...last.measures, weight: String(weight) } }
          : last,
      );
    });
  }, []);
  useReadings((reading) =>
    takeReading(reading, {
      onWeight: (text, isSubmitted) => {
        // The form is behind the other dialog, where nobody sees what it takes.
        if (isVoiding) {
          showUnclear({ kind: 'unclear', beside: 'scale' });
          return;
        }
        play('wait');
        const name = readWeight(text)?.unit ? 'weight' : focusedMeasure();
        const next = { ...measures, [name]: text };
        setForm({ measures: next, wrong: [] });
        if (isSubmitted) correct.run(next, false);
      },
      onJoined: () => {
        if (!isVoiding) setForm({ measures: { ...measures, weight: '' }, wrong: ['weight'] });
      },
      onLeave: () => {
        endCorrection();
        const subject = request.scan;
        if (isVoiding) showEarlier('warn', t('word.notVoided'), t('void.left', { scan: subject }), subject);
        else if (isChanged)
          showEarlier('warn', t('word.notCorrected'), t('correct.left', { scan: subject }), subject);
      },
    }),
  );

  const read = readMeasures(measures);
  return (
    <>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          correct.run(measures, false);
        }}
      >
        <p class="mono strong">{scan.request.scan}</p>
        <p class="muted">{hintOf(parcel, stored)}</p>
        <MeasureFields
          measures={measures}
          wrong={wrong}
          onMeasure={(name, text) => setForm({ measures: { ...measures, [name]: text }, wrong: [] })}
        />
        <Problem text={correct.error} />
        {doubt && 'measures' in read && (
          <p class="question" role="alert">
            {doubtText(doubt, read.measures.weight)}
          </p>
        )}
        <div class="actions">
          {doubt && 'measures' in read ? (
            <button type="button" onClick={() => correct.run(measures, true)}>
              {t('doubt.yes', { weight: pounds(read.measures.weight) })}
            </button>
          ) : (
            <button type="submit" class="primary" disabled={correct.isBusy}>
              {t('correct.save')}
            </button>
          )}
        </div>
      </form>
      <VoidLast parcel={parcel} onOpen={setIsVoiding} />
    </>
  );
}

type Devices = {
  onWeight: (text: string, isSubmitted: boolean) => void;
  onJoined: () => void;
  onLeave: () => void;
};

/** The scale fills the form. A scan is the next parcel: it closes the form, so that no key for that parcel corrects this one. */
function takeReading(given: Reading, { onWeight, onJoined, onLeave }: Devices): 'pass' | undefined {
  const reading = asWeight(given);
  if (reading.kind === 'weight') {
    onWeight(reading.text, reading.isSubmitted);
    return undefined;
  }
  if (reading.kind === 'unclear' && reading.beside === 'scale') {
    play('bad');
    onJoined();
    return undefined;
  }
  if (reading.kind === 'unclear') showUnclear(reading);
  onLeave();
  return reading.kind === 'scan' ? 'pass' : undefined;
}

/** Beside the fields of measures, what a scale sends comes as a scan. It is no next parcel. */
function asWeight(reading: Reading): Reading {
  if (reading.kind !== 'scan' || !isWeightText(reading.scan.text)) return reading;
  return { kind: 'weight', text: reading.scan.text, isSubmitted: false };
}

async function send({ scan }: Received, measures: ReadMeasures): Promise<void> {
  const correction = await correctScan(scan, measures);
  if (correction.correction_id) expectAnswer(correction.correction_id);
  const { scan: text } = scan.request;
  report('wait', t('word.saved'), `${text} · ${pounds(measures.weight)}: ${t('correct.waits')}`, text);
}

/** Returns the new measures, with the weight in any case, or undefined if nothing is different. */
function changesOf(known: ReadMeasures, read: ReadMeasures): ReadMeasures | undefined {
  const changed = MEASURE_NAMES.filter((name) => read[name] !== undefined && read[name] !== known[name]);
  if (changed.length === 0) return undefined;
  return { ...Object.fromEntries(changed.map((name) => [name, read[name]])), weight: read.weight };
}

/** Says what is stored, and what only waits on this device. */
function hintOf({ result, request, correction }: Received, stored: number): string {
  const waits = correction && pounds(correction.measures.weight);
  if (!result) return t('correct.hintWaits', { weight: waits ?? pounds(request.weight) });
  const hint = t('correct.hint', { weight: pounds(stored) });
  return waits ? `${hint} ${t('correct.hintCorrection', { weight: waits })}` : hint;
}

const textsOf = ({ weight, length, width, height }: ReadMeasures): Measures => ({
  weight: String(weight),
  length: String(length ?? ''),
  width: String(width ?? ''),
  height: String(height ?? ''),
});

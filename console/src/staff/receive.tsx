import { useEffect, useRef, useState } from 'preact/hooks';
import type { ScanResolution } from '../../../sdk/typescript/src/index.js';
import { change, settings } from '../device/settings.js';
import { RecentScans } from '../queue/recent.js';
import type { Reading } from '../scanner/scanner.js';
import { loadWeightQuestion } from '../station/weight-question.js';
import {
  confirm,
  doubtText,
  hold,
  joinLabels,
  openInstead,
  openSecond,
  resolve,
  save,
  takeScan,
  takeWeight,
} from '../station/receiving.js';
import { NearMatches } from '../which/near-matches.js';
import { PrintButton } from '../station/print-button.js';
import { MeasureFields } from '../station/measure-fields.js';
import { NotReceived, WhichParcel } from '../which/which-parcel.js';
import { askForScan, list } from '../which/second-scan.js';
import {
  canBeReceived,
  changeWork,
  clearParcel,
  hasParcelInWork,
  work,
  type Parcel,
  type Work,
} from '../station/work.js';
import { lastReceived, startCorrection } from '../station/correct/correcting.js';
import { setShown } from '../station/report.js';
import { pounds, t } from '../texts/texts.js';
import { focusedMeasure, showUnclear, useReadings } from '../ui/keys.js';
import { clearOutcome, OutcomeBanner, show } from '../ui/outcome.js';
import { Field, Heading } from '../ui/parts.js';
import { CustomerSearch } from './customer-search.js';
import { NumberField } from './number-field.js';
import { ParcelOwner, showMeaning } from './parcel-owner.js';
import { holdsCode, isCodeText, readMeasures, type MeasureName } from './parcel.js';

export function ReceivePage() {
  const current = work.value;
  const { parcel, wrong, doubt, second } = current;
  const form = useRef<HTMLFormElement>(null);
  const fieldOf = (name: string) => form.current?.querySelector<HTMLInputElement>(`[name=${name}]`);

  useReadings((reading) => takeReading(reading, focusedMeasure()));
  useEffect(() => showParcelAgain(), []);
  useEffect(() => void loadWeightQuestion(), []);
  useEffect(
    () => form.current?.querySelector<HTMLInputElement>('input')?.focus(),
    [parcel?.scan, parcel?.customer, second],
  );
  // What a person has typed without an objection stays unselected, so that the next key does not replace it.
  useEffect(() => {
    if (wrong.length > 0 || doubt) fieldOf(wrong[0] ?? 'weight')?.select();
  }, [wrong, doubt]);
  useEffect(() => {
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);

  return (
    <div class="station">
      <Heading title={t('receive.title')}>
        {lastReceived() && (
          <button type="button" class="quiet" onClick={() => startCorrection()}>
            {t('correct.last')} <kbd>F2</kbd>
          </button>
        )}
      </Heading>
      <OutcomeBanner idle={t('receive.idle')} />
      <NotReceived />
      <form
        ref={form}
        class="card stack"
        data-takes-keys
        data-search={parcel ? undefined : true}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {parcel ? (
          <>
            <ParcelOwner parcel={parcel} />
            {second !== undefined ? (
              <WhichParcel
                first={parcel.scan}
                second={second}
                onNumber={(text) => void takeScan({ text, isAgain: false }, showMeaning)}
                onSecond={() => openSecond(showMeaning)}
                onJoined={() => void joinLabels()}
              />
            ) : canBeReceived(parcel) ? (
              <OpenParcel current={current} parcel={parcel} />
            ) : (
              <NothingToReceive parcel={parcel} onClose={cancel} />
            )}
          </>
        ) : (
          <NumberField onNumber={(text) => void takeScan({ text, isAgain: false }, showMeaning)} />
        )}
      </form>
      {!settings.value.isNamed && <NameStation />}
      <section class="section">
        <h2>{t('recent.title')}</h2>
        <RecentScans kinds={['receive', 'hold']} caption={t('recent.title')} />
      </section>
    </div>
  );
}

/** Every scan has the name of the station, so it is asked once on each device. */
function NameStation() {
  const [name, setName] = useState('');
  return (
    <form
      class="notice pair"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') change({ station: name.trim(), isNamed: true });
      }}
    >
      <Field
        label={t('settings.nameStation')}
        hint={t('settings.stationHint')}
        value={name}
        maxLength={40}
        onValue={setName}
      />
      <div class="actions">
        <button type="submit">{t('settings.saveName')}</button>
      </div>
    </form>
  );
}

/** Measures, the owner if nobody knows it, and what can be done with the parcel. */
function OpenParcel({ current, parcel }: { current: Work; parcel: Parcel }) {
  const { customer, resolution } = parcel;
  return (
    <>
      <MeasureFields
        measures={current.measures}
        wrong={current.wrong}
        onMeasure={(name, text) =>
          changeWork({ measures: { ...work.value.measures, [name]: text }, doubt: undefined })
        }
      />
      {current.doubt && <Doubt work={current} />}
      {resolution?.next === 'unknown' && (
        <NearMatches scan={parcel.scan} onChoose={(near) => void openInstead(near, showMeaning)} />
      )}
      {!customer && resolution && needsOwner(resolution) && (
        <CustomerSearch
          label={t('receive.customer')}
          onChoose={(chosen) => changeWork({ parcel: { ...parcel, customer: chosen } })}
        />
      )}
      <div class="actions">
        {!current.doubt && (
          <button type="submit" class="primary">
            {t(current.isHeld ? 'receive.hold' : 'receive.save')} <kbd>Enter</kbd>
          </button>
        )}
        {current.isHeld ? (
          <button type="button" onClick={() => changeWork({ isHeld: false })}>
            {t('receive.noHold')}
          </button>
        ) : (
          <button type="button" onClick={() => void hold()}>
            {t('receive.hold')}
          </button>
        )}
        {customer && (
          <button
            type="button"
            class="quiet"
            onClick={() =>
              changeWork({ parcel: { scan: parcel.scan, ...(resolution ? { resolution } : {}) } })
            }
          >
            {t('receive.otherCustomer')}
          </button>
        )}
        <button type="button" class="quiet" onClick={cancel}>
          {t('receive.drop')} <kbd>Esc</kbd>
        </button>
      </div>
    </>
  );
}

/** A weight that is not plausible is stored only when the person says that it is right. */
function Doubt({ work: { doubt, measures } }: { work: Work }) {
  const read = readMeasures(measures);
  if (!doubt || 'wrong' in read) return null;
  const { weight } = read.measures;
  return (
    <div class="question" role="alert" data-testid="doubt">
      <p>{doubtText(doubt, weight)}</p>
      <div class="actions">
        <button type="button" onClick={() => void confirm()}>
          {t('doubt.yes', { weight: pounds(weight) })} <kbd>Alt Y</kbd>
        </button>
        {doubt === 'barcode' && (
          <button type="button" class="quiet" onClick={() => takeCode(measures.weight)}>
            {t('doubt.isCode')}
          </button>
        )}
      </div>
    </div>
  );
}

/** What a scanner or a scale sent. */
function takeReading(reading: Reading, field: MeasureName): void {
  // Also a weight, if the scale has sent it while a field for a text had the focus.
  if (reading.kind === 'scan') void takeScan(reading.scan, showMeaning);
  else if (reading.kind === 'weight') takeWeight(reading.text, field, reading.isSubmitted);
  else if (reading.beside !== 'scale' && hasParcelInWork.value) askForScan();
  else {
    if (reading.beside !== 'scan') changeWork({ measures: { ...work.value.measures, weight: '' } });
    showUnclear(reading);
  }
}

/** A code in the field of the weight came from a scanner that was too slow to be noticed. */
function submit(): void {
  const { parcel, measures } = work.value;
  if (!parcel) return;
  if (isCodeText(measures.weight)) takeCode(measures.weight);
  else if (holdsCode(measures.weight)) askForScan();
  else void save();
}

function takeCode(text: string): void {
  changeWork({ measures: { ...work.value.measures, weight: '' }, doubt: undefined });
  void takeScan({ text: text.trim(), isAgain: false }, showMeaning, { isNumber: true });
}

/** Drops the parcel on the scale, and says that it was not stored, unless there was nothing to receive. */
function cancel(): void {
  const { parcel, second } = work.value;
  clearParcel();
  if (second !== undefined) list(second);
  if (!parcel || !canBeReceived(parcel)) clearOutcome();
  else show('warn', t('word.cancelled'), t('receive.cancelled', { scan: parcel.scan }));
}

function onKeyDown(event: KeyboardEvent): void {
  if (document.querySelector('dialog[open]') || !work.value.parcel) return;
  if (event.key === 'Escape' && !event.defaultPrevented) cancel();
  if (event.altKey && event.code === 'KeyY' && work.value.doubt) {
    event.preventDefault();
    void confirm();
  }
}

/** The parcel waited while another page was open. */
function showParcelAgain(): () => void {
  setShown(() => true);
  const { parcel, doubt } = work.value;
  if (parcel && !doubt) {
    if (parcel.resolution) showMeaning(parcel.scan, parcel.resolution);
    else void resolve(parcel.scan, showMeaning);
  }
  return () => setShown(() => false);
}

const needsOwner = ({ matches, next }: ScanResolution) =>
  matches.prealerts.length === 0 || next === 'unknown';

/** A parcel that was received before, or a scan that is no parcel. */
function NothingToReceive({ parcel, onClose }: { parcel: Parcel; onClose: () => void }) {
  const [found] = parcel.resolution?.matches.packages ?? [];
  return (
    <div class="actions">
      {found && <PrintButton packageId={found.package_id} text={t('label.again')} isPrimary />}
      <button type="button" class="quiet" onClick={onClose}>
        {t('receive.next')} <kbd>Esc</kbd>
      </button>
    </div>
  );
}

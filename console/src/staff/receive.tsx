import { useEffect, useRef, useState } from 'preact/hooks';
import type { ScanResolution } from '../../../sdk/typescript/src/index.js';
import { addScan } from '../queue/add.js';
import { expectAnswer, printOrSay } from '../queue/answers.js';
import { RecentScans } from '../queue/recent.js';
import type { Scan } from '../scanner/scanner.js';
import { api, isOffline, messageOf } from '../session/session.js';
import { t } from '../texts/texts.js';
import { useScans } from '../ui/keys.js';
import { clearOutcome, OutcomeBanner, show } from '../ui/outcome.js';
import { Field, Heading } from '../ui/parts.js';
import { CustomerSearch } from './customer-search.js';
import { NumberField } from './number-field.js';
import { isOneParcel, ParcelOwner, showMeaning, type Parcel } from './parcel-owner.js';
import { NO_MEASURES, readMeasures, type Measures } from './parcel.js';

const RESOLVE_MS = 4_000;

export function ReceivePage() {
  const [parcel, setParcel] = useState<Parcel>();
  const [measures, setMeasures] = useState(NO_MEASURES);
  const [wrong, setWrong] = useState<(keyof Measures)[]>([]);
  const form = useRef<HTMLFormElement>(null);
  const isReceived = (parcel?.resolution?.matches.packages.length ?? 0) > 0;
  const isParcel = !parcel?.resolution || isOneParcel(parcel.resolution);

  /** The scan of the parcel on the scale, for answers that arrive late. */
  const opened = useRef<string | undefined>(undefined);
  /** The scan that came before the weight of the parcel on the scale. Scanning it again at once is no repetition. */
  const postponed = useRef<string | undefined>(undefined);

  const open = async (scan: string) => {
    opened.current = scan;
    setParcel({ scan });
    setMeasures(NO_MEASURES);
    setWrong([]);
    show('wait', t('word.reading'), scan, scan);
    try {
      const { data } = await api().packages.resolveScan({ scan }, { timeoutMs: RESOLVE_MS, maxRetries: 0 });
      // The person may have gone on to the next parcel.
      if (opened.current !== scan) return;
      setParcel({ scan, resolution: data });
      showMeaning(scan, data);
    } catch (error) {
      if (opened.current !== scan) return;
      if (isOffline(error)) show('wait', t('word.weigh'), t('receive.offline'), scan);
      else show('bad', t('word.refused'), messageOf(error));
    }
  };
  const close = () => {
    opened.current = undefined;
    setParcel(undefined);
    setMeasures(NO_MEASURES);
    setWrong([]);
  };
  const save = async (): Promise<boolean> => {
    if (!parcel || isReceived || !isParcel) return true;
    const read = readMeasures(measures);
    if ('wrong' in read) {
      setWrong(read.wrong);
      show('warn', t('word.weighFirst'), t('receive.weighFirst', { scan: parcel.scan }));
      form.current?.querySelector<HTMLInputElement>(`[name=${read.wrong[0]}]`)?.focus();
      return false;
    }
    const { customer, scan } = parcel;
    const owner = customer ? { user_code: customer.user_code, courier_id: customer.courier_id } : {};
    try {
      const queued = await addScan({ kind: 'receive', scan, ...read.measures, ...owner });
      expectAnswer(queued.scan_id);
      show('wait', t('word.saved'), scan, scan);
    } catch (error) {
      show('bad', t('word.notSaved'), messageOf(error));
      return false;
    }
    close();
    return true;
  };
  const onScan = async ({ text, isAgain }: Scan) => {
    const isTwice = text === parcel?.scan || (isAgain && text !== postponed.current);
    if (isTwice) {
      show('wait', t('word.again'), text, text);
      return;
    }
    const isFree = await save();
    postponed.current = isFree ? undefined : text;
    if (isFree) await open(text);
  };

  useScans((scan) => void onScan(scan));
  useEffect(() => form.current?.querySelector<HTMLInputElement>('input')?.focus(), [parcel?.scan]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !parcel) return;
    close();
    clearOutcome();
  };

  return (
    <div class="station" onKeyDown={onKeyDown}>
      <Heading title={t('receive.title')} />
      <OutcomeBanner idle={t('receive.idle')} />
      <form
        ref={form}
        class="card stack"
        data-search={parcel ? undefined : true}
        onSubmit={(event) => {
          event.preventDefault();
          if (parcel) void save();
        }}
      >
        {parcel ? (
          <>
            <ParcelOwner parcel={parcel} />
            {isReceived || !isParcel ? (
              <ReceivedParcel parcel={parcel} onClose={close} />
            ) : (
              <>
                <MeasureFields measures={measures} wrong={wrong} onChange={setMeasures} />
                {!parcel.customer && parcel.resolution && needsOwner(parcel.resolution) && (
                  <CustomerSearch
                    label={t('receive.customer')}
                    onChoose={(customer) => setParcel({ ...parcel, customer })}
                  />
                )}
                <div class="actions">
                  <button type="submit" class="primary">
                    {t('receive.save')} <kbd>Enter</kbd>
                  </button>
                  <button type="button" class="quiet" onClick={close}>
                    {t('receive.drop')} <kbd>Esc</kbd>
                  </button>
                </div>
              </>
            )}
          </>
        ) : (
          <NumberField onNumber={(text) => void onScan({ text, isAgain: false })} />
        )}
      </form>
      <section class="section">
        <h2>{t('recent.title')}</h2>
        <RecentScans kinds={['receive']} caption={t('recent.title')} />
      </section>
    </div>
  );
}

const needsOwner = ({ matches, next }: ScanResolution) =>
  matches.prealerts.length === 0 || next === 'unknown';

function MeasureFields({
  measures,
  wrong,
  onChange,
}: {
  measures: Measures;
  wrong: (keyof Measures)[];
  onChange: (measures: Measures) => void;
}) {
  return (
    <div class="measures">
      {(['weight', 'length', 'width', 'height'] as const).map((name) => (
        <Field
          key={name}
          name={name}
          label={t(`receive.${name}`)}
          value={measures[name]}
          inputMode="decimal"
          error={wrong.includes(name) ? t(`receive.${name}Wrong`) : undefined}
          onValue={(value) => onChange({ ...measures, [name]: value })}
        />
      ))}
    </div>
  );
}

function ReceivedParcel({ parcel, onClose }: { parcel: Parcel; onClose: () => void }) {
  const [found] = parcel.resolution?.matches.packages ?? [];
  return (
    <div class="actions">
      {found && (
        <button type="button" class="primary" onClick={() => void printOrSay(found.package_id)}>
          {t('label.again')}
        </button>
      )}
      <button type="button" class="quiet" onClick={onClose}>
        {t('receive.next')} <kbd>Esc</kbd>
      </button>
    </div>
  );
}

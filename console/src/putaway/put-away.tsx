import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { addScan } from '../queue/add.js';
import { expectAnswer } from '../queue/answers.js';
import { RecentScans } from '../queue/recent.js';
import { storable } from '../queue/scans.js';
import { isWeightText } from '../scanner/scale.js';
import type { Scan } from '../scanner/scanner.js';
import { api, messageOf, session } from '../session/session.js';
import { NumberField } from '../staff/number-field.js';
import { isManifestNumber } from '../station/work.js';
import { addTexts, t } from '../texts/texts.js';
import { showScale, useScans } from '../ui/keys.js';
import { OutcomeBanner, show } from '../ui/outcome.js';
import { Heading } from '../ui/parts.js';
import { LONGEST_PLACE, meaningOf, placeText } from './place.js';
import { putawayTexts } from './texts.js';

addTexts(putawayTexts);

/** The place with the user who has chosen it. In the storage of the tab, so that a page change or a reload does not end it. */
const NAME = 'crossdock-place';
const stored = signal(sessionStorage.getItem(NAME) ?? '');

/** Places that the service knows. Without a connection, those that it said last. */
const known = signal<string[]>([]);
/** The largest page of the service. */
const MOST_PLACES = 500;

function choose(place: string | undefined): void {
  stored.value = place === undefined ? '' : `${session.value?.user.id} ${place}`;
  if (stored.value) sessionStorage.setItem(NAME, stored.value);
  else sessionStorage.removeItem(NAME);
}

/** The place of this user. The next one at the station has none. */
function chosenPlace(): string | undefined {
  const [owner, ...words] = stored.value.split(' ');
  return owner !== '' && owner === session.value?.user.id ? words.join(' ') : undefined;
}

async function readPlaces(): Promise<void> {
  try {
    const { data } = await api().packages.listLocations({ limit: MOST_PLACES });
    known.value = data.map(({ location }) => location);
  } catch {
    // Without a connection, the rules for new places are enough.
  }
}

/** Scan a place, then the parcels that are put there. */
export function PutAwayPage() {
  const place = chosenPlace();
  /** A text that looks like a number, scanned before a place was chosen. */
  const [doubt, setDoubt] = useState<string>();
  const lastPlace = useRef<string | undefined>(undefined);
  useEffect(() => void readPlaces(), []);

  const choosePlace = (text: string) => {
    const name = storable(placeText(text));
    setDoubt(undefined);
    if (name === '' || name.length > LONGEST_PLACE) {
      show('bad', t('word.scanPlace'), t('putaway.tooLong'), text);
      return;
    }
    choose(name);
    show('good', t('word.place'), `${name}. ${t('putaway.chosen')}`, name);
  };
  const putHere = async (scan: string, here: string) => {
    lastPlace.current = here;
    try {
      const { scan_id: id } = await addScan({ kind: 'locate', scan, location: here });
      expectAnswer(id);
      show('wait', t('word.saved'), `${scan} · ${here}`, scan);
    } catch (error) {
      show('bad', t('word.notSaved'), messageOf(error));
    }
  };
  const take = ({ text, isAgain }: Scan) => {
    if (isWeightText(text)) {
      showScale(text);
      return;
    }
    // Read anew: two scans may come before the page is drawn again.
    const here = chosenPlace();
    if (isManifestNumber(text)) {
      show('bad', t('word.noParcel'), t('putaway.manifest', { scan: text }), text);
      return;
    }
    const meaning = meaningOf(text, here, known.value);
    if (meaning.kind === 'place') choosePlace(meaning.place);
    else if (meaning.kind === 'doubt' || here === undefined) {
      setDoubt(text);
      show('warn', t('word.scanPlace'), t('putaway.isNumber', { scan: text }), text);
    } else if (isAgain && lastPlace.current === here) show('wait', t('word.again'), text, text);
    else void putHere(text, here);
  };
  useScans(take);
  return (
    <div class="station">
      <Heading title={t('putaway.title')} />
      {place !== undefined && (
        <div class="chosen-place" data-testid="place">
          <span>{t('putaway.place')}</span>
          <strong class="mono">{place}</strong>
          <button type="button" onClick={() => choose(undefined)}>
            {t('putaway.other')}
          </button>
        </div>
      )}
      <OutcomeBanner idle={t(place === undefined ? 'putaway.idlePlace' : 'putaway.idle')} />
      {doubt !== undefined && place === undefined && (
        <div class="actions">
          <button type="button" onClick={() => choosePlace(doubt)}>
            {t('putaway.usePlace')}
          </button>
        </div>
      )}
      <div class="card stack" data-search data-takes-keys>
        <NumberField
          label={t('putaway.number')}
          hint=""
          onNumber={(text) => take({ text, isAgain: false })}
        />
      </div>
      <section class="section">
        <h2>{t('recent.title')}</h2>
        <RecentScans kinds={['locate']} caption={t('recent.title')} />
      </section>
    </div>
  );
}

// A second number was scanned before the first parcel had its weight. Nobody can tell which of the two is on the scale, so no weight
// is taken until the person says it.
import { t } from '../texts/texts.js';
import { show } from '../ui/outcome.js';
import { changeWork, isManifestNumber, work } from '../station/work.js';

/** The list stays short enough to read. */
const LONGEST = 20;

/** Asks which parcel is on the scale. `scan` is the second number, or a further one. */
export function askWhich(scan: string): void {
  const { second = scan } = work.value;
  changeWork({ second });
  if (scan !== second) list(scan);
  showWhich();
}

/** Says that no weight is taken. */
export function showWhich(): void {
  const { parcel, second = '' } = work.value;
  const first = parcel?.scan ?? '';
  show('bad', t('word.twoNumbers'), t('which.ask', { first, second }), first);
}

/** The first parcel is on the scale. `isOneParcel`: the second number is another label of it. */
export function keepFirst({ isOneParcel = false } = {}): void {
  const { parcel, second } = work.value;
  changeWork({ second: undefined, wrong: [] });
  if (second !== undefined && !isOneParcel) list(second);
  show('wait', t('word.weigh'), parcel?.scan ?? '', parcel?.scan);
}

/** Lists a number that was scanned and not received. */
export function list(scan: string): void {
  const others = work.value.unreceived.filter((each) => each !== scan);
  if (!isManifestNumber(scan)) changeWork({ unreceived: [...others, scan].slice(-LONGEST) });
}

export const unlist = (scan: string): void =>
  changeWork({ unreceived: work.value.unreceived.filter((each) => each !== scan) });

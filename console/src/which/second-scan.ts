// A second number was scanned before the first parcel had its weight. Nobody can tell which of the two is on the scale, so no weight
// is taken until the person says it.
import { t } from '../texts/texts.js';
import { show } from '../ui/outcome.js';
import { changeWork, isManifestNumber, work } from '../station/work.js';

/** More than a shift leaves. The storage of the tab is bounded. */
const LONGEST = 1_000;

/** Asks which parcel is on the scale. `scan` is the second number, or a further one. */
export function askWhich(scan: string): void {
  const second = work.value.second || scan;
  changeWork({ second });
  if (scan !== second) list(scan);
  showWhich();
}

/** Asks the same after a scan that could not be read: the next weight may be that of the other parcel. */
export function askForScan(): void {
  const { second = '', measures } = work.value;
  changeWork({ second, measures: { ...measures, weight: '' }, doubt: undefined });
  showWhich();
}

/** Says that no weight is taken. */
export function showWhich(): void {
  const { parcel, second = '' } = work.value;
  const first = parcel?.scan ?? '';
  if (second === '') {
    show('bad', t('word.scanAgain'), t('which.unread', { first }), first);
    return;
  }
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
  if (scan !== '' && !isManifestNumber(scan)) changeWork({ unreceived: [...others, scan].slice(-LONGEST) });
}

export const unlist = (scan: string): void =>
  changeWork({ unreceived: work.value.unreceived.filter((each) => each !== scan) });

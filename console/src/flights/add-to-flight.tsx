import { queue, dismiss } from '../queue/store.js';
import { api } from '../session/session.js';
import { t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { show } from '../ui/outcome.js';
import { addedWords } from './doubtful.js';
import { Problem } from '../ui/parts.js';
import { single } from '../device/single.js';

type Props = { scan: string; manifestId: string; onAdded: () => void; onTakeOff: () => void };

/** For a parcel that was scanned onto a flight and is on no manifest: puts it on this one, or takes it off again. */
export function AddToFlight({ scan, manifestId, onAdded, onTakeOff }: Props) {
  const add = useAction(async () => {
    const { data } = await api().packages.resolveScan({ scan });
    const ids = data.matches.packages.map(({ package_id }) => package_id);
    if (ids.length !== 1) throw new Error(t('load.severalFound', { scan }));
    await api().manifests.manage({ action: 'add_packages', manifest_id: manifestId, package_ids: ids });
    // The parcel was loaded before. It belongs to the flight now, so nobody must look after it.
    await dismiss(loadsOf(scan, manifestId));
    const [tone, word, detail] = addedWords(data);
    show(tone, word, detail, scan);
    onAdded();
  });
  return (
    <div class="card question">
      <p>{t('load.addQuestion', { scan })}</p>
      <Problem text={add.error} />
      <div class="actions">
        <button type="button" class="primary" disabled={add.isBusy} onClick={single(() => add.run())}>
          {t('load.add')}
        </button>
        <button type="button" disabled={add.isBusy} onClick={single(onTakeOff)}>
          {t('load.takeThisOff')}
        </button>
      </div>
    </div>
  );
}

/** The scans of a parcel onto a flight that a person should look after. */
const loadsOf = (scan: string, manifestId: string) =>
  queue.value.filter(
    ({ state, request }) =>
      state === 'attention' &&
      request.kind === 'load' &&
      request.scan === scan &&
      request.manifest_id === manifestId,
  );

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ManifestPackage, ScanResolution } from '../../../sdk/typescript/src/index.js';
import { PackageLink } from '../find/record-links.js';
import type { Scan } from '../scanner/scanner.js';
import { isWeightText } from '../scanner/scale.js';
import { NumberField } from '../staff/number-field.js';
import { api, messageOf } from '../session/session.js';
import { pounds, t, textOf } from '../texts/texts.js';
import { Code } from '../ui/code.js';
import { showScale, useScans } from '../ui/keys.js';
import { useAction } from '../ui/load.js';
import { OutcomeBanner, show } from '../ui/outcome.js';
import { Owner } from '../ui/owner.js';
import { Problem, Table } from '../ui/parts.js';
import { route } from '../ui/router.js';
import { single } from '../device/single.js';
import { addedWords } from './doubtful.js';

type Props = { manifestId: string; onDone: () => void };

/** The package that was removed last, until something else is done. */
const removed = signal<ManifestPackage | undefined>(undefined);

/** Scanning a received parcel puts it on the manifest. */
export function AddPackages({ manifestId, onDone }: Props) {
  useEffect(() => () => void (removed.value = undefined), [manifestId]);
  const add = async (scan: Scan) => {
    // What a dialog says of the manifest stays true.
    if (document.querySelector('dialog[open]')) {
      show('bad', t('word.notPossible'), t('scan.closeDialog'));
      return;
    }
    removed.value = undefined;
    await addScanned(scan, manifestId);
    onDone();
  };
  useScans((scan) => void add(scan));
  return (
    <section class="station section">
      <OutcomeBanner idle={t('manifests.scanToAdd')} />
      <Undo manifestId={manifestId} onDone={onDone} />
      <div class="card" data-search data-takes-keys>
        <NumberField onNumber={(text) => void add({ text, isAgain: false })} />
      </div>
    </section>
  );
}

async function addScanned(scan: Scan, manifestId: string): Promise<void> {
  // A late answer is not shown on another manifest, where it would not be true.
  const say: typeof show = (...words) => {
    if (route.value.argument === manifestId) show(...words);
  };
  const { text, isAgain } = scan;
  if (isAgain) {
    say('wait', t('word.again'), text);
    return;
  }
  if (isWeightText(text)) {
    showScale(text);
    return;
  }
  try {
    const { data } = await api().packages.resolveScan({ scan: text });
    const refusal = refusalOf(data, text, manifestId);
    const [found] = data.matches.packages;
    if (refusal || !found) {
      if (refusal) say(...refusal);
      return;
    }
    await api().manifests.manage({
      action: 'add_packages',
      manifest_id: manifestId,
      package_ids: [found.package_id],
    });
    say(...addedWords(data));
  } catch (error) {
    say('bad', t('word.notPossible'), `${text}: ${messageOf(error)}`);
  }
}

type Words = Parameters<typeof show>;

/** What the page says instead of asking the service, whose answer has no word for it. */
function refusalOf({ matches }: ScanResolution, text: string, manifestId: string): Words | undefined {
  const [found, other] = matches.packages;
  if (!found) return ['warn', t('word.notReceived'), `${text}: ${t('reason.not_received')}`];
  if (other) return ['bad', t('word.notPossible'), t('load.severalFound', { scan: text })];
  const { house_number, status, manifest_id, manifest_number } = found;
  if (manifest_id === manifestId) return ['wait', t('word.onIt'), house_number];
  if (status === 'on_hold') return ['bad', t('word.hold'), `${house_number}: ${t('manifests.onHold')}`];
  if (manifest_id !== null) {
    const advice = t('manifests.onOther', { manifest: manifest_number ?? '' });
    return ['bad', t('word.wrongFlight'), `${house_number}: ${advice}`];
  }
  if (status === 'received') return undefined;
  const advice = t('manifests.notHere', { status: textOf('status', status) });
  return ['bad', t('word.notPossible'), `${house_number}: ${advice}`];
}

/** Puts the package that was removed last on the manifest again. */
function Undo({ manifestId, onDone }: Props) {
  const back = useAction(async ({ package_id, house_number }: ManifestPackage) => {
    await api().manifests.manage({
      action: 'add_packages',
      manifest_id: manifestId,
      package_ids: [package_id],
    });
    removed.value = undefined;
    show('good', t('word.added'), house_number);
    onDone();
  });
  const last = removed.value;
  return (
    <>
      <Problem text={back.error} />
      {last && (
        <p class="notice" data-testid="removed">
          {t('manifests.removed', { package: last.house_number })}{' '}
          <button type="button" disabled={back.isBusy} onClick={single(() => back.run(last))}>
            {t('common.undo')}
          </button>
        </p>
      )}
    </>
  );
}

type PackagesProps = Props & { packages: ManifestPackage[]; isOpen: boolean };

export function Packages({ packages, manifestId, isOpen, onDone }: PackagesProps) {
  const remove = useAction(async (row: ManifestPackage) => {
    await api().manifests.manage({
      action: 'remove_packages',
      manifest_id: manifestId,
      package_ids: [row.package_id],
    });
    removed.value = row;
    show('warn', t('word.removed'), [row.house_number, row.user_code].filter(Boolean).join(' · '));
    onDone();
  });
  const change = {
    title: t('manifests.change'),
    cell: (row: ManifestPackage) => (
      <button type="button" class="quiet" disabled={remove.isBusy} onClick={single(() => remove.run(row))}>
        {t('manifests.remove')}
        <span class="unseen"> {row.house_number}</span>
      </button>
    ),
  };
  return (
    <>
      <Problem text={remove.error} />
      <Table
        caption={t('common.packages')}
        rows={packages}
        keyOf={({ package_id }) => package_id}
        columns={[
          { title: t('common.house'), cell: ({ house_number }) => <PackageLink number={house_number} /> },
          { title: t('common.number'), cell: ({ tracking_number }) => <Code text={tracking_number} /> },
          { title: t('common.owner'), cell: (row) => <Owner of={row} /> },
          { title: t('common.weight'), isNumber: true, isExtra: true, cell: ({ weight }) => pounds(weight) },
          ...(isOpen ? [change] : []),
        ]}
      />
    </>
  );
}

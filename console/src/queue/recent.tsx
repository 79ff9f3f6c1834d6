import { session } from '../session/session.js';
import { dateTime, pounds, t, time, momentOf } from '../texts/texts.js';
import { Empty, Table, Tag } from '../ui/parts.js';
import type { QueuedScan, ScanResult, StationScan } from './scans.js';
import { answered, printOrSay } from './answers.js';
import { corrections, queue, recent } from './store.js';
import { verdictOf } from './verdict.js';
import { Code } from '../ui/code.js';

const LONGEST = 30;

/** The scans of some kinds: those that wait, then the latest answers, the newest first. */
export function RecentScans({ kinds, caption }: { kinds: StationScan['kind'][]; caption: string }) {
  const owner = session.value?.user.id;
  const isShown = (scan: QueuedScan) => scan.owner === owner && kinds.includes(scan.request.kind);
  const waiting = queue.value
    .filter((scan) => scan.state === 'waiting' && isShown(scan))
    .sort((a, b) => (a.request.scanned_at < b.request.scanned_at ? 1 : -1));
  const known = new Set(answered.value.map(({ scan }) => scan.scan_id));
  const answers = [...answered.value, ...recent.value.filter(({ scan }) => !known.has(scan.scan_id))];
  const rows = [
    ...waiting.map((scan): { scan: QueuedScan; result?: ScanResult } => ({ scan })),
    ...answers.filter(({ scan }) => isShown(scan)).slice(0, LONGEST),
  ];
  if (rows.length === 0) return <Empty title={t('recent.empty')}>{t('recent.emptyHint')}</Empty>;
  return (
    <Table
      caption={caption}
      rows={rows}
      keyOf={({ scan }) => scan.scan_id}
      columns={[
        { title: t('recent.result'), cell: ({ scan, result }) => <ResultTag scan={scan} result={result} /> },
        { title: t('common.number'), cell: ({ scan }) => <Code text={scan.request.scan} /> },
        ...(kinds.includes('receive')
          ? [
              {
                title: t('common.weight'),
                isNumber: true,
                cell: ({ scan }: { scan: QueuedScan }) => weightOf(scan),
              },
            ]
          : []),
        { title: t('common.house'), cell: ({ result }) => <HouseNumber result={result} /> },
        {
          title: t('common.owner'),
          isExtra: true,
          cell: ({ result }) =>
            [result?.parcel?.user_code, result?.parcel?.courier_name].filter(Boolean).join(' · '),
        },
        {
          title: t('recent.time'),
          isExtra: true,
          cell: ({ scan }) => (
            <span title={dateTime(scan.request.scanned_at)}>{time(momentOf(scan.request.scanned_at))}</span>
          ),
        },
      ]}
    />
  );
}

/** The weight as it was corrected, if it was. */
function weightOf({ scan_id, request }: QueuedScan): string {
  if (request.kind !== 'receive') return '';
  const correction = corrections.value.find((each) => each.scan_id === scan_id);
  const corrected = correction?.measures ?? recent.value.flatMap(measuresIn(scan_id))[0];
  return pounds(corrected?.weight ?? request.weight);
}

const measuresIn =
  (scanId: string) =>
  ({ scan: { scan_id, request } }: { scan: QueuedScan }) =>
    scan_id === scanId && request.kind === 'receive' ? [request] : [];

function ResultTag({ scan, result }: { scan: QueuedScan; result?: ScanResult | undefined }) {
  if (!result) return <Tag>{t('queue.waits')}</Tag>;
  const { tone, word } = verdictOf(scan.request.kind, result);
  return <Tag tint={tone === 'wait' ? 'plain' : tone}>{t(`word.${word}`)}</Tag>;
}

/** The house number prints the label again. */
function HouseNumber({ result }: { result?: ScanResult | undefined }) {
  const packageId = result?.parcel?.package_id;
  const house = result?.parcel?.house_number;
  if (!packageId || !house) return null;
  return (
    <button
      type="button"
      class="link mono"
      onClick={() => void printOrSay(packageId)}
      title={t('label.again')}
    >
      {house}
    </button>
  );
}

import { session } from '../session/session.js';
import { dateTime, pounds, t, time, momentOf } from '../texts/texts.js';
import { startCorrection } from '../station/correct/correcting.js';
import { Empty, Table, Tag } from '../ui/parts.js';
import { single } from '../device/single.js';
import { isExecuted, isWaiting, type QueuedScan, type ScanResult, type StationScan } from './scans.js';
import { answered, printOrSay } from './answers.js';
import { corrections, queue, recent } from './store.js';
import { verdictOf } from './verdict.js';
import { Code } from '../ui/code.js';

const LONGEST = 30;

type Row = { scan: QueuedScan; result?: ScanResult };

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
    ...waiting.map((scan): Row => ({ scan })),
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
                cell: (row: Row) => <Weight of={row} />,
              },
            ]
          : []),
        ...(kinds.includes('locate')
          ? [
              {
                title: t('load.place'),
                cell: ({ scan: { request } }: Row) => (
                  <span class="mono">{request.kind === 'locate' ? request.location : ''}</span>
                ),
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
        ...(kinds.includes('receive')
          ? [{ title: t('correct.column'), cell: (row: Row) => <CorrectButton of={row} /> }]
          : []),
      ]}
    />
  );
}

/** The weight that the service has, and a correction that waits on this device. */
function Weight({ of: { scan, result } }: { of: Row }) {
  const { request, scan_id: id } = scan;
  if (request.kind !== 'receive') return null;
  const correction = corrections.value.find((each) => each.scan_id === id && isWaiting(each));
  const stored = result?.parcel?.weight ?? request.weight;
  const isRejected = result?.reason === 'already_received' && stored !== request.weight;
  if (!correction)
    return (
      <>
        {pounds(stored)}
        {isRejected && <span class="muted"> {t('recent.rejected', { weight: pounds(request.weight) })}</span>}
      </>
    );
  const { weight } = correction.measures;
  return (
    <>
      {result && <span class="muted">{pounds(stored)} → </span>}
      {pounds(weight)} <Tag>{t('queue.waits')}</Tag>
    </>
  );
}

function CorrectButton({ of: { scan, result } }: { of: Row }) {
  const isReceived = scan.request.kind === 'receive' && (!result || isExecuted(result));
  if (!isReceived) return null;
  return (
    <button
      type="button"
      class="quiet"
      // Hidden text would be wider than the table, and the page would scroll sideways.
      aria-label={`${t('correct.button')} ${scan.request.scan}`}
      onClick={() => startCorrection(scan.scan_id)}
    >
      {t('correct.button')}
    </button>
  );
}

function ResultTag({ scan, result }: { scan: QueuedScan; result?: ScanResult | undefined }) {
  if (!result) return <Tag>{t('queue.waits')}</Tag>;
  const { tone, word } = verdictOf(scan, result);
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
      onClick={single(() => void printOrSay(packageId))}
      title={t('label.again')}
    >
      {house}
    </button>
  );
}

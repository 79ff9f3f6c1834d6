import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { session } from '../session/session.js';
import { pounds, t } from '../texts/texts.js';
import { Dialog, Table, Tag } from '../ui/parts.js';
import { single } from '../device/single.js';
import { startCorrection } from '../station/correct/correcting.js';
import { adviceOf } from './advice.js';
import type { PageId } from '../pages.js';
import { groupAttention, type AttentionGroup } from './attention.js';
import { countQueue, isWaiting, type QueuedScan } from './scans.js';
import { sendError } from './sender.js';
import {
  corrections,
  dismiss,
  isQueueRead,
  queue,
  removeCorrection,
  sendAgain,
  storageError,
} from './store.js';
import { verdictOf } from './verdict.js';
import { Code } from '../ui/code.js';

/** The browser knows at once that the network is gone. The sender notices it with the next scan. */
const isCut = signal(!navigator.onLine);
for (const event of ['online', 'offline'])
  window.addEventListener(event, () => {
    isCut.value = !navigator.onLine;
  });

const ownScans = () => queue.value.filter(({ owner }) => owner === session.value?.user.id);

/** The state of the queue in the bar. It opens the list of what waits. */
export function QueueIndicator() {
  const [isOpen, setIsOpen] = useState(false);
  const { waiting } = countQueue(queue.value, corrections.value, session.value?.user.id ?? '');
  const isOffline = isCut.value || (sendError.value?.isOffline ?? false);
  const isBusy = waiting > 0 || !isQueueRead.value;
  const text = isOffline ? t('queue.offline') : isBusy ? t('queue.sending') : t('queue.online');
  return (
    <>
      <button
        type="button"
        class={`queue-state ${isOffline ? 'queue-offline' : isBusy ? 'queue-busy' : ''}`}
        onClick={() => setIsOpen(true)}
        aria-haspopup="dialog"
        data-testid="queue"
      >
        <span class="dot" aria-hidden="true" />
        <span class="queue-text">{text}</span>
        {waiting > 0 && <strong>{t('queue.count', { count: waiting })}</strong>}
      </button>
      {isOpen && (
        <Dialog title={t('queue.title')} onClose={() => setIsOpen(false)}>
          <QueueList />
        </Dialog>
      )}
    </>
  );
}

function QueueList() {
  const owner = session.value?.user.id;
  const scans = ownScans().filter(({ state }) => state === 'waiting');
  const rows = [
    ...scans.map(({ scan_id: id, request: { kind, scan }, station }) => ({
      id,
      kind: t(`kind.${kind}`),
      scan,
      station,
    })),
    ...corrections.value
      .filter((each) => each.owner === owner && isWaiting(each))
      .map(({ scan_id, scan, measures }) => ({
        id: `correction-${scan_id}`,
        kind: t('correct.kind', { weight: pounds(measures.weight) }),
        scan,
        station: '',
      })),
  ];
  if (rows.length === 0) return <p>{t('queue.empty')}</p>;
  return (
    <Table
      caption={t('queue.title')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { title: t('queue.kind'), cell: ({ kind }) => kind },
        { title: t('common.number'), cell: ({ scan }) => <Code text={scan} /> },
        { title: t('queue.station'), cell: ({ station }) => station },
      ]}
    />
  );
}

/** Why scans are not sent, and corrections that the service refused. */
export function QueueNotices() {
  const owner = session.value?.user.id ?? '';
  const { waiting, ofOthers, others } = countQueue(queue.value, corrections.value, owner);
  const error = sendError.value;
  const failed = corrections.value.filter((each) => each.owner === owner && !isWaiting(each));
  return (
    <>
      {storageError.value && (
        <p class="problem" role="alert">
          {t('queue.storage', { reason: storageError.value })}
        </p>
      )}
      {error && waiting > 0 && (
        <p class="notice" role="status">
          {error.isOffline
            ? t('queue.offlineHint', { count: waiting })
            : t('queue.failed', { count: waiting, reason: error.message })}
        </p>
      )}
      {ofOthers > 0 && (
        <p class="notice">{t('queue.others', { count: ofOthers, names: others.join(', ') })}</p>
      )}
      {failed.map((correction) => (
        <p key={correction.scan_id} class="problem" role="alert">
          {t('correct.failed', {
            scan: correction.scan,
            weight: pounds(correction.measures.weight),
            reason: correction.failure ?? '',
          })}{' '}
          <button type="button" class="quiet" onClick={single(() => void removeCorrection(correction))}>
            {t('queue.dismiss')}
          </button>
        </p>
      ))}
    </>
  );
}

/** The problems that each page can solve. Those of other pages come last. */
const KINDS: Partial<Record<PageId, QueuedScan['request']['kind'][]>> = {
  receive: ['receive', 'hold'],
  putaway: ['locate'],
  load: ['load', 'unload'],
};

/** Scans that a person must look after, those of the page first. One line below the page, which opens and covers nothing else. */
export function AttentionPanel({ page }: { page: PageId | undefined }) {
  const groups = groupAttention(ownScans());
  if (groups.length === 0) return null;
  const kinds = page && KINDS[page];
  const isOfPage = ({ scan }: AttentionGroup) => !kinds || kinds.includes(scan.request.kind);
  const [here, elsewhere] = [groups.filter(isOfPage), groups.filter((group) => !isOfPage(group))];
  return (
    <section class="attention" aria-label={t('queue.attention')} data-testid="attention">
      <details>
        <summary>
          {here.length > 0 && <strong>{t('queue.attentionCount', { count: here.length })}</strong>}
          {elsewhere.length > 0 && (
            <span class="muted">{t('queue.attentionElsewhere', { count: elsewhere.length })}</span>
          )}
        </summary>
        {groups.length > 1 && (
          <button
            type="button"
            class="quiet"
            onClick={single(() => void dismiss(groups.flatMap(({ scans }) => scans)))}
          >
            {t('queue.dismissAll')}
          </button>
        )}
        <ul>
          {[...here, ...elsewhere].map((group) => (
            <Attention key={group.scan.scan_id} group={group} />
          ))}
        </ul>
      </details>
    </section>
  );
}

function Attention({ group: { scan, scans } }: { group: AttentionGroup }) {
  const { result, request } = scan;
  if (!result) return null;
  const { tone, word } = verdictOf(scan, result);
  return (
    <li>
      <Tag tint={tone === 'bad' ? 'bad' : 'warn'}>{t(`word.${word}`)}</Tag>
      <Code text={request.scan} />
      <span class="muted">{t(`kind.${request.kind}`)}</span>
      {scans.length > 1 && <span class="muted">× {scans.length}</span>}
      <span class="attention-text">{adviceOf(scan, result)}</span>
      {word === 'twoWeights' && (
        <button type="button" class="quiet" onClick={() => startCorrection(scan.scan_id)}>
          {t('correct.button')}
          <span class="unseen"> {request.scan}</span>
        </button>
      )}
      {result.result === 'refused' && (
        <button type="button" class="quiet" onClick={single(() => void Promise.all(scans.map(sendAgain)))}>
          {t('queue.sendAgain')}
          <span class="unseen"> {request.scan}</span>
        </button>
      )}
      <button type="button" class="quiet" onClick={single(() => void dismiss(scans))}>
        {t('queue.dismiss')}
        <span class="unseen"> {request.scan}</span>
      </button>
    </li>
  );
}

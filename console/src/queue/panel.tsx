import { useState } from 'preact/hooks';
import { session } from '../session/session.js';
import { pounds, t } from '../texts/texts.js';
import { Dialog, Table, Tag } from '../ui/parts.js';
import { adviceOf } from './answers.js';
import { countQueue, type QueuedScan } from './scans.js';
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

const ownScans = () => queue.value.filter(({ owner }) => owner === session.value?.user.id);

/** The state of the queue in the bar. It opens the list of what waits. */
export function QueueIndicator() {
  const [isOpen, setIsOpen] = useState(false);
  const { waiting } = countQueue(queue.value, session.value?.user.id ?? '');
  const isOffline = sendError.value?.isOffline ?? false;
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
  const waiting = ownScans().filter(({ state }) => state === 'waiting');
  if (waiting.length === 0) return <p>{t('queue.empty')}</p>;
  return (
    <Table
      caption={t('queue.title')}
      rows={waiting}
      keyOf={({ scan_id }) => scan_id}
      columns={[
        { title: t('queue.kind'), cell: ({ request }) => t(`kind.${request.kind}`) },
        { title: t('common.number'), cell: ({ request }) => <Code text={request.scan} /> },
        { title: t('queue.station'), cell: ({ station }) => station },
      ]}
    />
  );
}

/** Why scans are not sent, and corrections that the service refused. */
export function QueueNotices() {
  const { waiting, ofOthers, others } = countQueue(queue.value, session.value?.user.id ?? '');
  const error = sendError.value;
  const failed = corrections.value.filter(
    ({ owner, failure }) => owner === session.value?.user.id && failure !== undefined,
  );
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
          <button type="button" class="quiet" onClick={() => void removeCorrection(correction)}>
            {t('queue.dismiss')}
          </button>
        </p>
      ))}
    </>
  );
}

/** Scans that the service did not execute, the latest first. Below the page, so that it does not move while somebody scans. */
export function AttentionPanel() {
  const attention = ownScans()
    .filter(({ state }) => state === 'attention')
    .sort((a, b) => (a.request.scanned_at < b.request.scanned_at ? 1 : -1));
  if (attention.length === 0) return null;
  return (
    <section class="attention" aria-label={t('queue.attention')} data-testid="attention">
      <div class="heading">
        <h2>{t('queue.attentionCount', { count: attention.length })}</h2>
        {attention.length > 1 && (
          <button type="button" class="quiet" onClick={() => void dismiss(attention)}>
            {t('queue.dismissAll')}
          </button>
        )}
      </div>
      <ul>
        {attention.map((scan) => (
          <Attention key={scan.scan_id} scan={scan} />
        ))}
      </ul>
    </section>
  );
}

function Attention({ scan }: { scan: QueuedScan }) {
  const { result, request } = scan;
  if (!result) return null;
  const { tone, word } = verdictOf(request.kind, result);
  return (
    <li>
      <Tag tint={tone === 'bad' ? 'bad' : 'warn'}>{t(`word.${word}`)}</Tag>
      <Code text={request.scan} />
      <span class="attention-text">{adviceOf(result)}</span>
      {result.result === 'refused' && (
        <button type="button" class="quiet" onClick={() => void sendAgain(scan)}>
          {t('queue.sendAgain')}
          <span class="unseen"> {request.scan}</span>
        </button>
      )}
      <button type="button" class="quiet" onClick={() => void dismiss([scan])}>
        {t('queue.dismiss')}
        <span class="unseen"> {request.scan}</span>
      </button>
    </li>
  );
}

import type { ApiCall } from '../../../../sdk/typescript/src/index.js';
import type { ListColumn } from '../../office/list/table.js';
import { dateTime, t, textOf } from '../../texts/texts.js';
import { Tag } from '../../ui/parts.js';

export const callColumns = (): ListColumn<ApiCall>[] => [
  {
    id: 'called_at',
    title: t('calls.at'),
    cell: ({ called_at }) => dateTime(called_at),
    text: ({ called_at }) => called_at,
  },
  {
    id: 'operation',
    title: t('calls.operation'),
    cell: ({ operation }) => <span class="mono">{operation}</span>,
    text: ({ operation }) => operation,
  },
  {
    id: 'status',
    title: t('calls.result'),
    cell: (call) => <ResultTag of={call} />,
    text: ({ status }) => status ?? '',
  },
  {
    id: 'code',
    title: t('calls.code'),
    cell: ({ code }) => code && <span class="mono">{code}</span>,
    text: ({ code }) => code ?? '',
  },
  {
    id: 'parcels',
    title: t('calls.parcels'),
    cell: (call) => <span class="mono">{parcelsOf(call)}</span>,
    text: ({ parcels }) => parcels.join(' '),
  },
  {
    id: 'credential',
    title: t('calls.credential'),
    cell: (call) => credentialOf(call),
    text: (call) => credentialOf(call),
  },
  {
    id: 'duration_ms',
    title: t('calls.duration'),
    cell: ({ duration_ms }) => t('calls.took', { ms: duration_ms }),
    text: ({ duration_ms }) => duration_ms,
    isNumber: true,
  },
  {
    id: 'request_id',
    title: t('calls.request'),
    cell: ({ request_id }) => <span class="mono">{request_id}</span>,
    text: ({ request_id }) => request_id,
    isHidden: true,
  },
];

export function ResultTag({ of: { status } }: { of: ApiCall }) {
  if (status === null) return <Tag tint="plain">{t('calls.aborted')}</Tag>;
  return <Tag tint={status < 400 ? 'good' : 'bad'}>{status}</Tag>;
}

/** The first of the parcels that a call named, and how many more. */
export function parcelsOf({ parcels: [first = ''], parcel_count }: ApiCall): string {
  return parcel_count > 1 ? t('calls.more', { first, count: parcel_count - 1 }) : first;
}

/** The kind of the credential, and what tells it from others: its name, or the end of the secret. */
export function credentialOf({ credential, credential_name, credential_hint }: ApiCall): string {
  const kind = textOf('callCredential', credential);
  const name = credential_name ?? (credential_hint ? `…${credential_hint}` : '');
  return name ? `${kind} ${name}` : kind;
}

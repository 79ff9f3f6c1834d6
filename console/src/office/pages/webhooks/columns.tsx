import type { CourierEndpointHealth } from '../../../../../sdk/typescript/src/index.js';
import { dateTime, number, t, textOf } from '../../../texts/texts.js';
import { HealthTag, healthText } from '../../../ui/data/webhook-health.js';
import type { ListColumn } from '../../list/table.js';

/** Why the last request failed, in one line. */
export const reasonOf = ({ last_failure }: CourierEndpointHealth): string =>
  last_failure
    ? [
        last_failure.http_status,
        last_failure.error ?? (last_failure.outcome && textOf('outcome', last_failure.outcome)),
      ]
        .filter(Boolean)
        .join(' ')
    : '';

export const shareOf = ({ failed_share_24h, failed_24h, sent_24h }: CourierEndpointHealth): string =>
  failed_share_24h === null
    ? ''
    : t('hooks.shareOf', {
        share: number(failed_share_24h, { style: 'percent' }),
        failed: failed_24h,
        sent: sent_24h,
      });

export const columns = (linkTo: (code: string) => string): ListColumn<CourierEndpointHealth>[] => [
  {
    id: 'courier_name',
    title: t('common.courier'),
    cell: ({ courier_code, courier_name }) => (
      <a class="strong" href={linkTo(courier_code)}>
        {courier_name}
      </a>
    ),
    text: ({ courier_name }) => courier_name,
    sortBy: 'courier_name',
  },
  {
    id: 'endpoint',
    title: t('hooks.endpoint'),
    cell: ({ endpoint }) => textOf('endpoint', endpoint),
    text: ({ endpoint }) => textOf('endpoint', endpoint),
  },
  {
    id: 'state',
    title: t('common.status'),
    cell: (row) => <HealthTag of={row} />,
    text: healthText,
  },
  {
    id: 'failing_since',
    title: t('hooks.failingSince'),
    cell: ({ failing_since }) => failing_since && dateTime(failing_since),
    text: ({ failing_since }) => failing_since ?? '',
    sortBy: 'failing_since',
  },
  {
    id: 'reason',
    title: t('hooks.failure'),
    cell: (row) => row.last_failure && `${dateTime(row.last_failure.at)}: ${reasonOf(row)}`,
    text: (row) => [row.last_failure?.at, reasonOf(row)].filter(Boolean).join(' '),
  },
  {
    id: 'waiting',
    title: t('hooks.waiting'),
    cell: ({ waiting }) => number(waiting),
    text: ({ waiting }) => waiting,
    sortBy: 'waiting',
    isNumber: true,
  },
  {
    id: 'oldest',
    title: t('hooks.oldest'),
    cell: ({ oldest_waiting_at }) => oldest_waiting_at && dateTime(oldest_waiting_at),
    text: ({ oldest_waiting_at }) => oldest_waiting_at ?? '',
    isHidden: true,
  },
  {
    id: 'share',
    title: t('hooks.share'),
    cell: shareOf,
    text: ({ failed_share_24h }) => failed_share_24h ?? '',
    sortBy: 'failed_share_24h',
    isNumber: true,
  },
  {
    id: 'success',
    title: t('hooks.success'),
    cell: ({ last_success_at }) => last_success_at && dateTime(last_success_at),
    text: ({ last_success_at }) => last_success_at ?? '',
  },
];

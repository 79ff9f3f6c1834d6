import type { Prealert } from '../../../../../sdk/typescript/src/index.js';
import { dateTime, t, textOf } from '../../../texts/texts.js';
import type { ListColumn } from '../../list/table.js';
import { AnnouncementTag } from './tag.js';

const nameOf = ({ first_name, last_name }: Prealert) => [first_name, last_name].filter(Boolean).join(' ');

/** The columns of a list of announcements. @param linkOf returns the address of an announcement */
export const announcementColumns = (linkOf: (prealert: Prealert) => string): ListColumn<Prealert>[] => [
  {
    id: 'tracking_number',
    title: t('common.number'),
    cell: (row) => (
      <a class="mono strong" href={linkOf(row)}>
        {row.tracking_number}
      </a>
    ),
    text: ({ tracking_number }) => tracking_number,
    sortBy: 'tracking_number',
  },
  {
    id: 'status',
    title: t('common.status'),
    cell: ({ status }) => <AnnouncementTag status={status} />,
    text: ({ status }) => textOf('prealert', status),
    sortBy: 'status',
  },
  {
    id: 'user_code',
    title: t('customers.code'),
    cell: ({ user_code }) => <span class="mono">{user_code}</span>,
    text: ({ user_code }) => user_code,
    sortBy: 'user_code',
  },
  { id: 'customer', title: t('common.customer'), cell: nameOf, text: nameOf },
  {
    id: 'courier',
    title: t('common.courier'),
    cell: ({ courier_name }) => courier_name,
    text: ({ courier_name }) => courier_name,
  },
  {
    id: 'vendor',
    title: t('common.vendor'),
    cell: ({ vendor }) => vendor,
    text: ({ vendor }) => vendor ?? '',
    sortBy: 'vendor',
  },
  {
    id: 'description',
    title: t('announce.description'),
    cell: ({ description }) => description,
    text: ({ description }) => description ?? '',
    isHidden: true,
  },
  {
    id: 'reference',
    title: t('statement.reference'),
    cell: ({ reference }) => reference,
    text: ({ reference }) => reference ?? '',
    isHidden: true,
  },
  {
    id: 'created_at',
    title: t('announce.at'),
    cell: ({ created_at }) => dateTime(created_at),
    text: ({ created_at }) => created_at,
    sortBy: 'created_at',
  },
];

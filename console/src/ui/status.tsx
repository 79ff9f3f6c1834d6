import { textOf } from '../texts/texts.js';
import { Tag } from './parts.js';

const STOPPED = new Set(['on_hold', 'customs_hold', 'returned', 'lost']);

export const StatusTag = ({ status }: { status: string }) => (
  <Tag tint={STOPPED.has(status) ? 'bad' : status === 'delivered' ? 'good' : 'plain'}>
    {textOf('status', status)}
  </Tag>
);

export const ManifestTag = ({ status }: { status: string }) => (
  <Tag tint={status === 'ready' ? 'warn' : status === 'completed' ? 'good' : 'plain'}>
    {textOf('manifest', status)}
  </Tag>
);

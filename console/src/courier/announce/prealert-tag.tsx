import { textOf } from '../../texts/texts.js';
import { Tag } from '../../ui/parts.js';

export const PrealertTag = ({ status }: { status: string }) => (
  <Tag tint={status === 'flagged' ? 'warn' : status === 'received' ? 'good' : 'plain'}>
    {textOf('prealert', status)}
  </Tag>
);

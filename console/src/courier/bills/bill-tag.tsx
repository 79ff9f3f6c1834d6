import { textOf } from '../../texts/texts.js';
import { Tag } from '../../ui/parts.js';

export const BillTag = ({ status }: { status: string }) => (
  <Tag tint={status === 'paid' ? 'good' : 'warn'}>{textOf('officeBill', status)}</Tag>
);

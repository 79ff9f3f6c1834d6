import { t } from '../../texts/texts.js';
import { Tag } from '../../ui/parts.js';

export const ActiveTag = ({ isActive }: { isActive: boolean }) => (
  <Tag tint={isActive ? 'good' : 'plain'}>{t(isActive ? 'office.active' : 'office.inactive')}</Tag>
);

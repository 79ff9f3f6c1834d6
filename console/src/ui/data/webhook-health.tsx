import type { CourierEndpointHealth, WebhookHealth } from '../../../../sdk/typescript/src/index.js';
import { textOf } from '../../texts/texts.js';
import { Tag } from '../parts.js';

/** The health of an address, as its courier or the office reads it. */
type Health = Pick<WebhookHealth, 'state' | 'last_success_at'> | CourierEndpointHealth;

/** The service calls an address `active` before the first request too. Only a success shows that it works. */
const isUntried = ({ state, last_success_at }: Health): boolean =>
  state === 'active' && last_success_at === null;

/** Returns the health in one or two words. */
export const healthText = (health: Health): string =>
  textOf('health', isUntried(health) ? 'untried' : health.state);

export const HealthTag = ({ of: health }: { of: Health }) => (
  <Tag tint={tintOf(health)}>{healthText(health)}</Tag>
);

function tintOf(health: Health) {
  if (health.state === 'none' || isUntried(health)) return 'plain';
  return health.state === 'active' ? 'good' : 'bad';
}

import type { TabProps } from '../../office/pages/courier-parts.js';
import { t } from '../../texts/texts.js';
import { SandboxPanel } from './sandbox-panel.js';

/** The sandbox of a courier, for staff who help its developers. */
export const SandboxTab = ({ courier: { courier_id } }: TabProps) => (
  <section>
    <h2>{t('sandbox.title')}</h2>
    <SandboxPanel courierId={courier_id} />
  </section>
);

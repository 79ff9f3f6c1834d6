import { SandboxPanel } from '../../integration/sandbox/sandbox-panel.js';
import { t } from '../../texts/texts.js';
import { Dialog } from '../../ui/parts.js';

/** The sandbox of the user's courier. Its credentials are on the screen until the dialog is closed. */
export const SandboxDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={t('sandbox.title')} onClose={onClose}>
    <SandboxPanel />
  </Dialog>
);

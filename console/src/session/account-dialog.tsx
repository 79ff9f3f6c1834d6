import { FactorOffForm } from './factor-off.js';
import { PinForm } from './pin/pin-form.js';
import { PasswordForm, SecondFactorForm } from './first-login.js';
import { SessionList } from './sessions.js';
import { t } from '../texts/texts.js';
import { ACCOUNT_TITLES, type AccountPart } from './account-parts.js';
import { Dialog } from '../ui/parts.js';

type Props = { part: AccountPart; onClose: () => void };

/** A change of the own account. */
export const AccountDialog = ({ part, onClose }: Props) => (
  <Dialog title={t(ACCOUNT_TITLES[part])} onClose={onClose}>
    {part === 'password' && <PasswordForm onDone={onClose} />}
    {part === 'factor' && <SecondFactorForm onDone={onClose} />}
    {part === 'factorOff' && <FactorOffForm onDone={onClose} />}
    {part === 'pin' && <PinForm />}
    {part === 'sessions' && <SessionList />}
  </Dialog>
);

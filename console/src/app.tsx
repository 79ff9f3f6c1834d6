import { useEffect } from 'preact/hooks';
import { settings } from './device/settings.js';
import { readTenant } from './device/tenant.js';
import { hasOffice, officePagesOf } from './office/pages.js';
import { ExpiredDialog, LoginPage } from './session/login.js';
import { isExpired, isLocked, logOut, session, type Session } from './session/session.js';
import { part } from './ui/part.js';
import { officeAddress, openAddress } from './ui/router.js';

const WHOLE_PAGE = { isWholePage: true };
/** Few logins need them. */
const ONCE = { isWholePage: true, isOnUse: true };

const Workplace = part(async () => (await import('./workplace.js')).Workplace, WHOLE_PAGE);
// Loads on use only: a station needs none of it.
const Office = part(
  async () => {
    const office = await import('./office/office.js');
    await office.loadTexts();
    return office.Office;
  },
  { isWholePage: true, isOnUse: true },
);
const PasswordPage = part(async () => (await import('./session/first-login.js')).PasswordPage, ONCE);
const SecondFactorPage = part(async () => (await import('./session/first-login.js')).SecondFactorPage, ONCE);

export function App() {
  document.documentElement.lang = settings.value.language;
  document.documentElement.dataset['theme'] = settings.value.theme;
  document.documentElement.toggleAttribute('data-locked', isLocked.value);
  const current = session.value;
  if (!current) return <LoginPage />;
  const { user } = current;
  if (!user.must_change_password && !user.must_set_up_two_factor)
    return <Mode key={user.id} session={current} />;
  return (
    <>
      {user.must_change_password ? <PasswordPage /> : <SecondFactorPage />}
      {isExpired.value && <ExpiredDialog onLeave={logOut} />}
    </>
  );
}

/** The station and the couriers' pages, or the office. */
function Mode({ session: current }: { session: Session }) {
  const { role } = current.user;
  const at = officeAddress.value;
  const mayUseOffice = hasOffice(role) || officePagesOf(role).some(({ id }) => id === at?.page);
  useEffect(() => void readTenant(current.client), [current.user.id]);
  const isForeign = !mayUseOffice && at !== undefined && at.page !== '';
  useEffect(() => {
    // Somebody else has left a page of the office open.
    if (isForeign) openAddress('/console', { isSame: true });
  }, [isForeign]);
  return mayUseOffice && at ? <Office session={current} /> : <Workplace session={current} />;
}

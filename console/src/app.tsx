import { settings } from './device/settings.js';
import { ExpiredDialog, LoginPage } from './session/login.js';
import { isExpired, logOut, session } from './session/session.js';
import { part } from './ui/part.js';

const WHOLE_PAGE = { isWholePage: true };

const Workplace = part(async () => (await import('./workplace.js')).Workplace, WHOLE_PAGE);
const PasswordPage = part(async () => (await import('./session/first-login.js')).PasswordPage, WHOLE_PAGE);
const SecondFactorPage = part(
  async () => (await import('./session/first-login.js')).SecondFactorPage,
  WHOLE_PAGE,
);

export function App() {
  document.documentElement.lang = settings.value.language;
  const current = session.value;
  if (!current) return <LoginPage />;
  const { user } = current;
  if (!user.must_change_password && !user.must_set_up_two_factor)
    return <Workplace key={user.id} session={current} />;
  return (
    <>
      {user.must_change_password ? <PasswordPage /> : <SecondFactorPage />}
      {isExpired.value && <ExpiredDialog onLeave={logOut} />}
    </>
  );
}

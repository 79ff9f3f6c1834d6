package example.crossdock;

import example.crossdock.api.LoginApi;
import example.crossdock.invoker.ApiClient;
import example.crossdock.invoker.ApiException;
import example.crossdock.model.LoginAction;
import example.crossdock.model.LoginGrant;
import example.crossdock.model.LoginResult;
import example.crossdock.model.LoginSuccess;
import example.crossdock.model.PasswordLoginAction;
import example.crossdock.model.TwoFactorRequired;
import example.crossdock.model.VerifyTwoFactorAction;

/** Logs in once for all threads that need a token at the same time. */
final class Tokens {
  private final LoginApi passwords;
  private final LoginApi codes;
  private final Crossdock.Builder login;
  private LoginGrant grant;

  /** A code is valid once, so that its request needs another client than that of a password. */
  Tokens(ApiClient passwords, ApiClient codes, Crossdock.Builder login) {
    this.passwords = new LoginApi(passwords);
    this.codes = new LoginApi(codes);
    this.login = login;
  }

  /** Returns the current grant, after a login if there is none. */
  synchronized LoginGrant get() {
    if (grant == null) grant = logIn();
    return grant;
  }

  /** Removes a token that the service rejected, unless another thread has already replaced it. */
  synchronized void forget(String token) {
    if (grant != null && grant.getAccessToken().equals(token)) grant = null;
  }

  private LoginGrant logIn() {
    PasswordLoginAction action =
        new PasswordLoginAction()
            .action(PasswordLoginAction.ActionEnum.LOGIN)
            .username(login.username)
            .password(login.password);
    Object result = send(passwords, new LoginAction(action)).getActualInstance();
    if (result instanceof TwoFactorRequired) {
      VerifyTwoFactorAction code =
          new VerifyTwoFactorAction()
              .action(VerifyTwoFactorAction.ActionEnum.VERIFY_2FA)
              .preauthToken(((TwoFactorRequired) result).getData().getPreauthToken())
              .code(login.secondFactor.get());
      result = send(codes, new LoginAction(code)).getActualInstance();
    }
    return ((LoginSuccess) result).getData();
  }

  private static LoginResult send(LoginApi api, LoginAction action) {
    try {
      return api.login(action);
    } catch (ApiException failure) {
      throw new ConnectionException(failure, true);
    }
  }
}

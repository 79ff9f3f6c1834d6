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
  private final LoginApi api;
  private final Crossdock.Builder login;
  private LoginGrant grant;

  Tokens(ApiClient client, Crossdock.Builder login) {
    this.api = new LoginApi(client);
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
    Object result = send(new LoginAction(action)).getActualInstance();
    if (result instanceof TwoFactorRequired) {
      VerifyTwoFactorAction code =
          new VerifyTwoFactorAction()
              .action(VerifyTwoFactorAction.ActionEnum.VERIFY_2FA)
              .preauthToken(((TwoFactorRequired) result).getData().getPreauthToken())
              .code(login.secondFactor.get());
      result = send(new LoginAction(code)).getActualInstance();
    }
    return ((LoginSuccess) result).getData();
  }

  private LoginResult send(LoginAction action) {
    try {
      return api.login(action);
    } catch (ApiException failure) {
      throw new IllegalStateException("The login failed: " + failure.getMessage(), failure);
    }
  }
}

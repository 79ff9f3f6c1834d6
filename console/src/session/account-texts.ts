/** The texts of the own account: password, second factor and sessions. They load with its dialogs and pages. */
export const accountEn = {
  'password.new': 'New password',
  'password.rule': 'At least 12 characters. A few words are easy to remember.',
  'password.save': 'Save the password',
  'forgotten.request':
    'You get an e-mail with a code, if your account has an e-mail address. Otherwise ask an administrator.',
  'forgotten.reset':
    'Enter the code of the e-mail and a new password. The code works once, within 30 minutes.',
  'forgotten.done': 'The password is changed. Close this and log in with it.',
  'forgotten.code': 'Code of the e-mail',
  'forgotten.send': 'Send the e-mail',
  'password.title': 'Choose a new password',
  'password.hint': 'Your password was for one login only.',
  'password.current': 'Password that you logged in with',
  'password.present': 'Present password',
  'password.again': 'New password again',
  'password.different': 'The two passwords are different.',
  'factor.passwordHint': 'Your role needs a second factor. Confirm your password to begin.',
  'factor.ownHint':
    'A code of an app on your telephone protects your account. Confirm your password to begin.',
  'factor.codeHint': 'Scan the picture with an authenticator app, then enter the six digits that it shows.',
  'factor.codesHint': 'Store these backup codes. Each replaces the app once. They are shown only now.',
  'factor.qr': 'QR code for the authenticator app',
  'factor.next': 'Continue',
  'factor.stored': 'I have stored the codes',
  'factor.offHint':
    'After this, your password alone is enough to log in. Confirm it, and enter a code of the authenticator app.',
  'sessions.hint': 'Log out every device that you do not know or no longer use, and change your password.',
  'sessions.device': 'Device',
  'sessions.address': 'Address',
  'sessions.lastSeen': 'Last used',
  'sessions.change': 'Action',
  'sessions.current': 'This device',
  'sessions.unknown': 'Unknown device',
  'sessions.endOthers': 'Log out everywhere else',
} as const;

export type AccountKey = keyof typeof accountEn;

export const accountEs: Record<AccountKey, string> = {
  'password.new': 'Contraseña nueva',
  'password.rule': 'Al menos 12 caracteres. Unas palabras son fáciles de recordar.',
  'password.save': 'Guardar la contraseña',
  'forgotten.request':
    'Recibirá un correo con un código si su cuenta tiene una dirección. Si no, consulte a un administrador.',
  'forgotten.reset':
    'Escriba el código del correo y una contraseña nueva. El código sirve una vez, durante 30 minutos.',
  'forgotten.done': 'La contraseña está cambiada. Cierre esto e inicie sesión con ella.',
  'forgotten.code': 'Código del correo',
  'forgotten.send': 'Enviar el correo',
  'password.title': 'Elija una contraseña nueva',
  'password.hint': 'Su contraseña era para un solo inicio de sesión.',
  'password.current': 'Contraseña con la que entró',
  'password.present': 'Contraseña actual',
  'password.again': 'Repita la contraseña nueva',
  'password.different': 'Las dos contraseñas son distintas.',
  'factor.passwordHint': 'Su rol necesita un segundo factor. Confirme su contraseña para empezar.',
  'factor.ownHint':
    'Un código de una app en su teléfono protege su cuenta. Confirme su contraseña para empezar.',
  'factor.codeHint':
    'Escanee la imagen con una aplicación de autenticación y escriba los seis dígitos que muestra.',
  'factor.codesHint':
    'Guarde estos códigos de respaldo. Cada uno sustituye a la aplicación una vez. Solo se muestran ahora.',
  'factor.qr': 'Código QR para la aplicación de autenticación',
  'factor.next': 'Continuar',
  'factor.stored': 'He guardado los códigos',
  'factor.offHint':
    'Después, basta la contraseña para entrar. Confírmela y escriba un código de la aplicación de autenticación.',
  'sessions.hint': 'Cierre la sesión de todo dispositivo que no conozca o ya no use, y cambie la contraseña.',
  'sessions.device': 'Dispositivo',
  'sessions.address': 'Dirección',
  'sessions.lastSeen': 'Último uso',
  'sessions.change': 'Acción',
  'sessions.current': 'Este dispositivo',
  'sessions.unknown': 'Dispositivo desconocido',
  'sessions.endOthers': 'Cerrar sesión en los demás',
};

export const accountTexts = { en: accountEn, es: accountEs };

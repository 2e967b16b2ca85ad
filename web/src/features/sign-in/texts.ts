/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  signInToVedette: "Sign in to Vedette",
  yourSessionHasEnded: "Your session has ended. Sign in to continue.",
  userName: "User name",
  password: "Password",
  keepMeSignedIn: "Keep me signed in on this browser",
  signIn: "Sign in",
  scanTheCode: "Scan the QR code with an authenticator, or enter its key by hand.",
  qrCode: "QR code for the authenticator",
  key: "Key",
  code: "Verification code",
  verify: "Verify",
  otherAccount: "Sign in with another account",
  firstStartTheServer:
    "First start? The server prints the user name and the password when it starts.",
} as const;

/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  signInToVedette: "Sign in to Vedette",
  yourSessionHasEnded: "Your session has ended. Sign in to continue.",
  userName: "User name",
  password: "Password",
  keepMeSignedIn: "Keep me signed in on this browser",
  signIn: "Sign in",
  firstStartTheServer:
    "First start? The server prints the user name and the password when it starts.",
} as const;

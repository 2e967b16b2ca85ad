//! Alerting: media types and the media of users, what actions send and run, and scripts.

use super::super::{Column, Reload, Table};
use super::{id, int, owned, table, text, text_or};

tables! { TABLES:
    MEDIA_TYPES = table(
        "media_types",
        &["mediatypeid"],
        // The media follow the revision of the snapshot.
        Reload::Discovery,
        MEDIA_TYPES_COLUMNS,
        &[&["name"]],
    );
    /// Of webhooks and scripts, in the order in which they are handed over. Webhooks have names,
    /// scripts numbers in `sortorder`.
    MEDIA_TYPE_PARAMS = table(
        "media_type_params",
        &["mediatypeid", "position"],
        Reload::Nothing,
        &[
            owned("mediatypeid", "media_types"),
            int("position", "0"),
            int("sortorder", "0"),
            text("name"),
            text("value"),
        ],
        &[],
    );
    /// Default texts, by source of events and by operation mode in `recovery`; one of each.
    MEDIA_TYPE_MESSAGES = table(
        "media_type_messages",
        &["mediatypeid", "position"],
        Reload::Nothing,
        &[
            owned("mediatypeid", "media_types"),
            int("position", "0"),
            int("eventsource", "0"),
            int("recovery", "0"),
            text("subject"),
            text("message"),
        ],
        &[],
    );
    /// Where a user gets messages. In `sendto` several addresses of e-mail are separated by line feeds;
    /// `active` 0 = on, 1 = off; `severity` has a bit for each severity.
    MEDIA = table(
        "media",
        &["mediaid"],
        Reload::Nothing,
        &[
            id("mediaid"),
            owned("userid", "users"),
            owned("mediatypeid", "media_types"),
            text("sendto"),
            int("active", "0"),
            int("severity", "63"),
            text_or("period", "1-7,00:00-24:00"),
            id("userdirectory_mediaid"),
        ],
        &[&["userid"], &["mediatypeid"]],
    );
    SCRIPTS = table(
        "scripts",
        &["scriptid"],
        Reload::Nothing,
        SCRIPTS_COLUMNS,
        &[&["name", "menu_path"], &["usrgrpid"], &["groupid"]],
    );
    SCRIPT_PARAMS = table(
        "script_params",
        &["scriptid", "position"],
        Reload::Nothing,
        &[owned("scriptid", "scripts"), int("position", "0"), text("name"), text("value")],
        &[],
    );
    /// Of operations that send; `mediatypeid` 0 = all media types.
    OPERATION_MESSAGES = table(
        "operation_messages",
        &["operationid"],
        Reload::Discovery,
        &[
            owned("operationid", "operations"),
            int("default_msg", "1"),
            text("subject"),
            text("message"),
            id("mediatypeid"),
        ],
        &[&["mediatypeid"]],
    );
    OPERATION_MESSAGE_GROUPS = table(
        "operation_message_groups",
        &["operationid", "usrgrpid"],
        Reload::Discovery,
        &[owned("operationid", "operations"), owned("usrgrpid", "usergroups")],
        &[&["usrgrpid"]],
    );
    OPERATION_MESSAGE_USERS = table(
        "operation_message_users",
        &["operationid", "userid"],
        Reload::Discovery,
        &[owned("operationid", "operations"), owned("userid", "users")],
        &[&["userid"]],
    );
    OPERATION_CONDITIONS = table(
        "operation_conditions",
        &["operationid", "position"],
        Reload::Discovery,
        &[
            owned("operationid", "operations"),
            int("position", "0"),
            int("conditiontype", "0"),
            int("operator", "0"),
            text("value"),
        ],
        &[],
    );
    /// Of operations that run a script.
    OPERATION_COMMANDS = table(
        "operation_commands",
        &["operationid"],
        Reload::Discovery,
        &[owned("operationid", "operations"), owned("scriptid", "scripts")],
        &[&["scriptid"]],
    );
    /// Hosts on which a script runs; `hostid` 0 = the event's. Hosts share their id space with templates;
    /// who deletes one deletes its rows here.
    OPERATION_COMMAND_HOSTS = table(
        "operation_command_hosts",
        &["opcommand_hstid"],
        Reload::Discovery,
        &[id("opcommand_hstid"), owned("operationid", "operations"), id("hostid")],
        &[&["operationid"], &["hostid"]],
    );
    OPERATION_COMMAND_GROUPS = table(
        "operation_command_groups",
        &["opcommand_grpid"],
        Reload::Discovery,
        &[id("opcommand_grpid"), owned("operationid", "operations"), owned("groupid", "groups_")],
        &[&["operationid"], &["groupid"]],
    );
}

const MEDIA_TYPES_COLUMNS: &[Column] = &[
    id("mediatypeid"),
    int("type", "0"),
    text("name"),
    text("smtp_server"),
    text("smtp_helo"),
    text("smtp_email"),
    text("exec_path"),
    text("gsm_modem"),
    text("username"),
    text("passwd"),
    // 1 = switched off.
    int("status", "1"),
    int("smtp_port", "25"),
    int("smtp_security", "0"),
    int("smtp_verify_peer", "0"),
    int("smtp_verify_host", "0"),
    int("smtp_authentication", "0"),
    int("maxsessions", "1"),
    int("maxattempts", "3"),
    text_or("attempt_interval", "10s"),
    int("message_format", "1"),
    text("script"),
    text_or("timeout", "30s"),
    int("process_tags", "0"),
    int("show_event_menu", "0"),
    text("event_menu_url"),
    text("event_menu_name"),
    text("description"),
    int("provider", "0"),
    // JSON; empty = no limit.
    text("storm_limit"),
    // 1 = messages of one problem to one address are sent one after the other, and later ones know the id of the first.
    int("living", "0"),
    // 1 = the receiver takes each message once, by the id of the alert.
    int("deduplicates", "0"),
    // Of e-mail: where responses go to, with a token behind a plus sign; empty = to the sender.
    text("reply_address"),
    // What sends messages instead when this one fails; 0 = nothing.
    id("fallback_mediatypeid"),
];

const SCRIPTS_COLUMNS: &[Column] = &[
    id("scriptid"),
    text("name"),
    text("command"),
    int("host_access", "2"),
    // Groups of users who may run it and of hosts on which it runs; 0 = all.
    id("usrgrpid"),
    id("groupid"),
    text("description"),
    text("confirmation"),
    int("type", "5"),
    int("execute_on", "2"),
    text_or("timeout", "30s"),
    int("scope", "1"),
    text("port"),
    int("authtype", "0"),
    text("username"),
    text("password"),
    text("publickey"),
    text("privatekey"),
    text("menu_path"),
    text("url"),
    int("new_window", "1"),
    int("manualinput", "0"),
    text("manualinput_prompt"),
    text("manualinput_validator"),
    int("manualinput_validator_type", "0"),
    text("manualinput_default_value"),
];

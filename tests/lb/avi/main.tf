terraform {
  required_providers {
    avi = { source = "vmware/avi" }
  }
}

variable "controller" {}
variable "password" {}
variable "certificate" {}
variable "key" {}
variable "port" {}
variable "ratio" { default = 1 }

provider "avi" {
  avi_controller = var.controller
  avi_username   = "Admin"
  avi_password   = var.password
  avi_tenant     = "admin"
  avi_version    = "30.2.1"
}

resource "avi_healthmonitor" "health" {
  name            = "health"
  type            = "HEALTH_MONITOR_HTTP"
  send_interval   = 10
  receive_timeout = 4
  http_monitor {
    http_request       = "GET /health HTTP/1.1"
    http_response_code = ["HTTP_2XX"]
  }
}

resource "avi_applicationpersistenceprofile" "by_address" {
  name             = "by-address"
  persistence_type = "PERSISTENCE_TYPE_CLIENT_IP_ADDRESS"
  ip_persistence_profile { ip_persistent_timeout = 5 }
}

resource "avi_pool" "stable" {
  name                                = "stable"
  lb_algorithm                        = "LB_ALGORITHM_ROUND_ROBIN"
  health_monitor_refs                 = [avi_healthmonitor.health.id]
  application_persistence_profile_ref = avi_applicationpersistenceprofile.by_address.id
  servers {
    ip {
      type = "V4"
      addr = "127.0.0.1"
    }
    port = 8081
  }
}

resource "avi_pool" "canary" {
  name = "canary"
  servers {
    ip {
      type = "V4"
      addr = "127.0.0.1"
    }
    port  = 8083
    ratio = var.ratio
  }
}

resource "avi_poolgroup" "app" {
  name = "app"
  members {
    pool_ref = avi_pool.stable.id
    ratio    = 9
  }
  members {
    pool_ref = avi_pool.canary.id
    ratio    = 1
  }
}

resource "avi_vsvip" "address" {
  name = "address"
  vip {
    vip_id = "1"
    ip_address {
      type = "V4"
      addr = "127.0.0.1"
    }
  }
}

resource "avi_httppolicyset" "old_paths" {
  name = "old-paths"
  http_request_policy {
    rules {
      index  = 1
      name   = "old"
      enable = true
      match {
        path {
          match_criteria = "BEGINS_WITH"
          match_str      = ["/old/"]
        }
      }
      redirect_action { protocol = "HTTPS" }
    }
  }
}

resource "avi_sslkeyandcertificate" "web" {
  name = "web"
  type = "SSL_CERTIFICATE_TYPE_VIRTUALSERVICE"
  key  = file(var.key)
  certificate { certificate = file(var.certificate) }
}

resource "avi_sslprofile" "modern" {
  name = "modern"
  accepted_versions { type = "SSL_VERSION_TLS1_2" }
  accepted_versions { type = "SSL_VERSION_TLS1_3" }
}

resource "avi_virtualservice" "web" {
  name                         = "web"
  pool_group_ref               = avi_poolgroup.app.id
  vsvip_ref                    = avi_vsvip.address.id
  ssl_key_and_certificate_refs = [avi_sslkeyandcertificate.web.id]
  ssl_profile_ref              = avi_sslprofile.modern.id
  http_policies {
    index               = 11
    http_policy_set_ref = avi_httppolicyset.old_paths.id
  }
  services {
    port       = var.port
    enable_ssl = true
  }
}

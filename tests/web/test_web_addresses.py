"""Which addresses pages may be read from."""

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guardgraph import ConfigurationError
from guardgraph.web.network import (
    explain_denied_address,
    list_reserved_networks,
    parse_allowed_addresses,
    parse_ip_address,
)

PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808"]
IS_GLOBAL_IS_WRONG = ["::127.0.0.1", "64:ff9b::7f00:1", "fec0::1", "192.88.99.1", "3fff::1", "5f00::1", "ff0e::1"]
HIDDEN = [
    *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "::8.8.8.8", "2002:a9fe:a9fe::1", "2001:0:7f00:1::"),
    *("2001:0:808:808:0:0:80ff:fffe", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808"),
]
NOT_UNICAST = ["224.0.0.1", "239.255.255.250", "255.255.255.255", "ff02::1", "240.0.0.1", "0.0.0.0", "::"]
INSIDE = ["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"]
INSIDE_6 = ["::1", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "2001:db8::1", "100::1", "4000::1", "c000::1"]


def test_any_other_address_is_denied_with_its_use():
    """Nothing that is private, special, withdrawn or hidden inside of another form is allowed."""
    others = [*IS_GLOBAL_IS_WRONG, *HIDDEN, *NOT_UNICAST, *INSIDE, *INSIDE_6]
    assert [text for text in PUBLIC + others if explain_denied_address(parse_ip_address(text)) is None] == PUBLIC


def test_the_table_holds_from_the_first_address_to_the_last():
    """Each row denies both ends of its network, and names a source."""
    for network, use in list_reserved_networks():
        assert "(RFC" in use or "(Microsoft" in use, network
        assert explain_denied_address(network[0]), network
        assert explain_denied_address(network[-1]), network


@settings(max_examples=300)
@given(st.ip_addresses())
def test_what_the_standard_library_calls_private_is_never_public(address):
    """The table is stricter than `ipaddress`, but for what is inside of a translated address."""
    if explain_denied_address(address) is None and address not in ipaddress.ip_network("64:ff9b::/96"):
        assert address.is_global
        assert not address.is_multicast


@settings(max_examples=200)
@given(st.ip_addresses(v=4))
def test_no_form_of_an_address_is_more_public_than_the_address(address):
    """Mapped, compatible, 6to4, Teredo and translated forms of a denied address are denied."""
    number = int(address)
    forms = [
        ipaddress.IPv6Address(0xFFFF << 32 | number),
        ipaddress.IPv6Address(number),
        ipaddress.IPv6Address(0x2002 << 112 | number << 80),
        ipaddress.IPv6Address(0x20010000 << 96 | number << 64),
        ipaddress.IPv6Address(0x20010000 << 96 | 0x08080808 << 64 | number ^ 0xFFFFFFFF),
        ipaddress.IPv6Address(0x64FF9B << 96 | number),
    ]
    if explain_denied_address(address):
        assert all(map(explain_denied_address, forms))


def test_an_allowed_network_allows_itself_and_no_more():
    """What is inside of an address has to be allowed by itself."""

    def explain(text, *allowed):
        return explain_denied_address(parse_ip_address(text), parse_allowed_addresses([*allowed]))

    assert explain("127.0.0.1", "127.0.0.0/8") is None
    assert explain("10.0.0.1", "127.0.0.0/8")
    assert explain("::ffff:127.0.0.1", "127.0.0.0/8")
    assert explain("2002:7f00:1::", "2002::/16") == "127.0.0.1: loopback (RFC 1122)"
    assert explain("2002:7f00:1::", "2002::/16", "127.0.0.1") is None


@pytest.mark.parametrize("given", ["127.0.0.0/8", 5, ["127.0.0.1/8"], ["localhost"], [None], [5]])
def test_networks_that_are_none_are_told(given):
    with pytest.raises(ConfigurationError, match="allowed_addresses"):
        parse_allowed_addresses(given)

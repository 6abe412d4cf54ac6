"""deeplink"""
